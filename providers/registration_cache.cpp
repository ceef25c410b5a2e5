#include "providers/registration_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace lath::providers {
namespace {

std::size_t bytes_of(AddressRange range) noexcept {
  return range.end - range.begin;
}

bool holds(AddressRange outer, AddressRange inner) noexcept {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

}  // namespace

RegistrationCache::Pin& RegistrationCache::Pin::operator=(Pin&& other) noexcept {
  if (this == &other) return *this;
  release();
  cache_ = std::exchange(other.cache_, nullptr);
  entry_ = other.entry_;
  return *this;
}

const Registration* RegistrationCache::Pin::registration() const noexcept {
  return entry_->registration.get();
}

void RegistrationCache::Pin::release() noexcept {
  if (cache_ != nullptr) std::exchange(cache_, nullptr)->give_back(entry_);
}

RegistrationCache::RegistrationCache(Provider& provider, const Bounds& bounds, UnmappedRanges* unmapped)
    : provider_(provider),
      bounds_(bounds),
      unmapped_(unmapped),
      page_(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE))) {}

template <class Use>
void RegistrationCache::for_each_overlapping(Index& index, AddressRange range, const Use& use) {
  auto at = index.upper_bound(range.begin);
  if (at != index.begin() && std::prev(at)->second->made.range.end > range.begin) --at;
  while (at != index.end() && at->first < range.end) use((at++)->second);
}

RegistrationCache::Found RegistrationCache::find(const Wanted& wanted) noexcept {
  const std::array<Index*, 2> serving{&writable_, &readable_};
  for (Index* index : std::span(serving).first(wanted.writable ? 1 : 2)) {
    const auto next = index->upper_bound(wanted.range.begin);
    if (next == index->begin()) continue;
    const auto found = std::prev(next)->second;
    if (found->made.buffer_id == wanted.buffer_id && holds(found->made.range, wanted.range)) return found;
  }
  return std::nullopt;
}

// With all that is registered of the same pages: one registration then serves the faces of one array.
// Neighbours without a page in common stay apart, since they may be freed one by one. For reading only, with
// what is known for that alone.
RegistrationCache::Wanted RegistrationCache::grown(const Wanted& least) noexcept {
  const std::array<Index*, 2> all{&readable_, &writable_};
  Wanted wanted = least;
  for (bool growing = true; growing;) {
    growing = false;
    for (Index* index : std::span(all).first(least.writable ? 2 : 1))
      for_each_overlapping(*index, wanted.range, [&](Entries::iterator entry) {
        const AddressRange known = entry->made.range;
        if (entry->made.buffer_id != wanted.buffer_id) return;
        growing |= !holds(wanted.range, known);
        wanted.range = {std::min(wanted.range.begin, known.begin), std::max(wanted.range.end, known.end)};
      });
  }
  return bytes_of(wanted.range) <= bounds_.bytes ? wanted : least;
}

std::unique_ptr<Registration> RegistrationCache::registered(const Wanted& wanted, IfRefused then,
                                                            std::unique_ptr<Error>& why) {
  auto* address = reinterpret_cast<void*>(wanted.range.begin);
  const std::size_t bytes = bytes_of(wanted.range);
  const auto kind = wanted.is_device() ? MemoryKind::device : MemoryKind::host;
  auto registration = provider_.register_memory(address, bytes, kind, wanted.writable, false, why);
  if (registration != nullptr || then == IfRefused::give_up || unused_.empty()) return registration;
  // Host memory that is not there will not come by dropping others; what devices answer says less.
  if (!wanted.is_device() && why->lath_code() != Code::no_memory) return nullptr;
  clear();
  return provider_.register_memory(address, bytes, kind, wanted.writable, false, why);
}

RegistrationCache::Found RegistrationCache::add(const Wanted& wanted, IfRefused then,
                                                std::unique_ptr<Error>& why) {
  Entries made(1);
  Entry& entry = made.front();
  entry.made = wanted;
  entry.pins = 1;
  entry.registration = registered(wanted, then, why);
  if (entry.registration == nullptr) return std::nullopt;
  // Whatever else is known of these addresses is of memory that is gone, or served by the new one as well.
  for (Index* index : {&writable_, &readable_})
    for_each_overlapping(*index, wanted.range, [&](Entries::iterator old) {
      const bool is_served = holds(wanted.range, old->made.range) && index == &readable_;
      if (index == &index_of(wanted) || old->made.buffer_id != wanted.buffer_id || is_served) retire(old);
    });
  index_of(wanted).emplace(wanted.range.begin, made.begin());
  bytes_ += bytes_of(wanted.range);
  used_.splice(used_.end(), made);
  return std::prev(used_.end());
}

// For writing at first, so that sends and receives share it; memory that may only be read is refused so.
RegistrationCache::Found RegistrationCache::add_host(Wanted wanted, std::unique_ptr<Error>& why) {
  wanted.range.begin -= wanted.range.begin % page_;
  wanted.range.end += (page_ - wanted.range.end % page_) % page_;
  const Wanted writable{wanted.range, wanted.buffer_id, true};
  for (const Wanted& joined : {grown(writable), grown(wanted)}) {
    if (joined == wanted) continue;
    if (const Found added = add(joined, IfRefused::give_up, why)) return added;
  }
  return add(wanted, IfRefused::drop_unused_and_repeat, why);
}

RegistrationCache::Found RegistrationCache::find_or_add(const Wanted& wanted, const gpu::MemoryInfo& info,
                                                        std::unique_ptr<Error>& why) {
  if (const Found found = find(wanted)) {
    ++hits_;
    use(*found);
    return found;
  }
  Found entry;
  if (!wanted.is_device() && unmapped_ != nullptr) return add_host(wanted, why);
  if (wanted.is_device() && info.bytes > bytes_of(wanted.range)) {
    const Wanted whole{{info.base, info.base + info.bytes}, wanted.buffer_id, true};
    entry = add(whole, IfRefused::drop_unused_and_repeat, why);
  }
  // Of a whole allocation that is refused, the part asked for may still fit the device's window.
  return entry ? entry : add(wanted, IfRefused::drop_unused_and_repeat, why);
}

RegistrationCache::Pin RegistrationCache::pin(void* address, std::size_t length, const gpu::MemoryInfo& info,
                                              bool writable, std::unique_ptr<Error>& why) noexcept {
  try {
    drop_unmapped();
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::uint64_t buffer_id = info.kind == gpu::MemoryKind::device ? info.buffer_id : 0;
    const Found entry = find_or_add({{begin, begin + length}, buffer_id, writable}, info, why);
    if (!entry) return Pin();
    why.reset();
    Pin pinned(*this, *entry);
    keep_within_bounds();
    return pinned;
  } catch (const std::exception& problem) {
    why = std::make_unique<Error>(Code::no_memory, problem.what(), "registration cache");
    return Pin();
  }
}

void RegistrationCache::use(Entries::iterator entry) noexcept {
  // Between the lists nodes move, so that nothing is allocated.
  if (entry->pins++ == 0) used_.splice(used_.end(), unused_, entry);
}

void RegistrationCache::give_back(Entries::iterator entry) noexcept {
  drop_unmapped();
  if (--entry->pins > 0) return;
  unused_.splice(unused_.end(), used_, entry);
  const bool is_kept = entry->made.is_device() || unmapped_ != nullptr;
  if (entry->retired || !is_kept)
    drop(entry);
  else
    keep_within_bounds();
}

// In use it stays, but for nobody else.
void RegistrationCache::retire(Entries::iterator entry) noexcept {
  if (entry->pins == 0) return drop(entry);
  index_of(entry->made).erase(entry->made.range.begin);
  entry->retired = true;
}

void RegistrationCache::drop(Entries::iterator entry) noexcept {
  if (!entry->retired) index_of(entry->made).erase(entry->made.range.begin);
  bytes_ -= bytes_of(entry->made.range);
  unused_.erase(entry);
}

void RegistrationCache::retire_host(AddressRange range) noexcept {
  for (Index* index : {&writable_, &readable_})
    for_each_overlapping(*index, range, [&](Entries::iterator entry) {
      if (!entry->made.is_device()) retire(entry);
    });
}

void RegistrationCache::drop_unmapped() noexcept {
  if (unmapped_ == nullptr || unmapped_->empty()) return;
  const bool complete = unmapped_->take_all([this](AddressRange range) { retire_host(range); });
  if (!complete) retire_host({0, UINTPTR_MAX});
}

void RegistrationCache::keep_within_bounds() noexcept {
  while (!unused_.empty() && (entries() > bounds_.entries || bytes_ > bounds_.bytes)) drop(unused_.begin());
}

void RegistrationCache::clear() noexcept {
  while (!unused_.empty()) drop(unused_.begin());
}

}  // namespace lath::providers
