#include "providers/registration_cache.hpp"

#include <algorithm>

namespace lath::providers {
namespace {

constexpr std::uintptr_t page_bytes = 4096;

}  // namespace

RegistrationCache::Pin& RegistrationCache::Pin::operator=(Pin&& other) noexcept {
  if (this == &other) return *this;
  release();
  cache_ = std::exchange(other.cache_, nullptr);
  entry_ = other.entry_;
  return *this;
}

const Registration* RegistrationCache::Pin::registration() const noexcept {
  return entry_->second.registration.get();
}

void RegistrationCache::Pin::release() noexcept {
  if (cache_ != nullptr) std::exchange(cache_, nullptr)->give_back(entry_);
}

RegistrationCache::Entries::iterator RegistrationCache::find(std::uintptr_t begin, std::uintptr_t end,
                                                             std::uint64_t buffer_id,
                                                             bool writable) noexcept {
  auto entry = entries_.upper_bound(begin);
  while (entry != entries_.begin()) {
    --entry;
    if (begin - entry->first >= longest_) break;
    const Entry& held = entry->second;
    if (entry->first + held.length <= begin || held.stale) continue;
    if (held.buffer_id != buffer_id) {
      // The allocation that was registered here is gone.
      if (held.pins > 0) continue;
      const auto stale = entry++;
      drop(stale);
      continue;
    }
    if (entry->first + held.length >= end && (held.writable || !writable)) return entry;
  }
  return entries_.end();
}

RegistrationCache::Entries::iterator RegistrationCache::add(void* address, std::size_t length,
                                                            MemoryKind kind, std::uint64_t buffer_id,
                                                            bool writable, std::unique_ptr<Error>& why) {
  auto registration = provider_.register_memory(address, length, kind, writable, false, why);
  if (registration == nullptr && !unused_.empty()) {
    clear();
    registration = provider_.register_memory(address, length, kind, writable, false, why);
  }
  if (registration == nullptr) return entries_.end();
  Entry entry;
  entry.length = length;
  entry.buffer_id = buffer_id;
  entry.writable = writable;
  entry.registration = std::move(registration);
  entry.pins = 1;
  const auto added = entries_.emplace(reinterpret_cast<std::uintptr_t>(address), std::move(entry));
  try {
    added->second.place = used_.insert(used_.end(), added);
  } catch (...) {
    entries_.erase(added);
    throw;
  }
  bytes_ += length;
  longest_ = std::max(longest_, length);
  return added;
}

RegistrationCache::Pin RegistrationCache::pin(void* address, std::size_t length, const gpu::MemoryInfo& info,
                                              bool writable, std::unique_ptr<Error>& why) noexcept {
  try {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const bool device = info.kind == gpu::MemoryKind::device;
    if (unmapped_ != nullptr && !unmapped_->empty()) forget_unmapped();
    const std::uint64_t buffer_id = device ? info.buffer_id : 0;
    auto entry = find(begin, begin + length, buffer_id, writable);
    if (entry != entries_.end()) {
      ++hits_;
      use(entry);
      return Pin(*this, entry);
    }
    if (!device && unmapped_ != nullptr)
      if (Pin kept = pin_kept_host(begin, begin + length, writable, why)) return kept;
    const auto kind = device ? MemoryKind::device : MemoryKind::host;
    // Of a whole allocation that is refused, the part asked for may still fit the device's window.
    if (device && info.bytes > length)
      entry = add(reinterpret_cast<void*>(info.base), info.bytes, kind, buffer_id, true, why);
    if (entry == entries_.end()) entry = add(address, length, kind, buffer_id, writable, why);
    if (entry == entries_.end()) return Pin();
    why.reset();
    Pin pinned(*this, entry);
    keep_within_bounds();
    return pinned;
  } catch (const std::exception& problem) {
    why = std::make_unique<Error>(Code::no_memory, problem.what(), "registration cache");
    return Pin();
  }
}

// Whole pages, and all that is registered next to them: so pieces of one array grow together. Memory that may
// not be written, or neighbours that are no longer there, make it smaller.
RegistrationCache::Pin RegistrationCache::pin_kept_host(std::uintptr_t begin, std::uintptr_t end,
                                                        bool writable, std::unique_ptr<Error>& why) {
  AddressRange pages{begin & ~(page_bytes - 1), (end + page_bytes - 1) & ~(page_bytes - 1)};
  AddressRange joined = pages;
  for (const auto& entry : entries_)
    if (entry.second.buffer_id == 0 && !entry.second.stale && overlaps(entry, pages))
      joined = {std::min(joined.begin, entry.first), std::max(joined.end, entry.first + entry.second.length)};
  auto added = entries_.end();
  for (const AddressRange& range : {joined, pages})
    for (const bool write : {true, false}) {
      if (added != entries_.end() || (writable && !write)) continue;
      added =
          add(reinterpret_cast<void*>(range.begin), range.end - range.begin, MemoryKind::host, 0, write, why);
    }
  if (added == entries_.end()) return Pin();
  why.reset();
  const AddressRange now{added->first, added->first + added->second.length};
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    const Entry& other = entry->second;
    const bool within = entry->first >= now.begin && entry->first + other.length <= now.end;
    if (entry != added && within && other.buffer_id == 0 && other.pins == 0 &&
        (added->second.writable || !other.writable))
      drop(entry);
    entry = next;
  }
  Pin pinned(*this, added);
  keep_within_bounds();
  return pinned;
}

void RegistrationCache::forget_unmapped() noexcept {
  const bool complete = unmapped_->take_all([this](const AddressRange& range) { forget(range); });
  if (!complete) forget({0, UINTPTR_MAX});
}

void RegistrationCache::forget(AddressRange range) noexcept {
  for (auto entry = entries_.begin(); entry != entries_.end() && entry->first < range.end;) {
    const auto next = std::next(entry);
    if (entry->second.buffer_id == 0 && overlaps(*entry, range)) {
      entry->second.stale = true;
      if (entry->second.pins == 0) drop(entry);
    }
    entry = next;
  }
}

void RegistrationCache::use(Entries::iterator entry) noexcept {
  // Between the lists nodes move, so that nothing is allocated.
  if (entry->second.pins++ == 0) used_.splice(used_.end(), unused_, entry->second.place);
}

void RegistrationCache::give_back(Entries::iterator entry) noexcept {
  Entry& held = entry->second;
  if (--held.pins > 0) return;
  unused_.splice(unused_.end(), used_, held.place);
  if (held.stale || (held.buffer_id == 0 && unmapped_ == nullptr))
    drop(entry);
  else
    keep_within_bounds();
}

void RegistrationCache::drop(Entries::iterator entry) noexcept {
  bytes_ -= entry->second.length;
  unused_.erase(entry->second.place);
  entries_.erase(entry);
}

void RegistrationCache::keep_within_bounds() noexcept {
  while (!unused_.empty() && (entries_.size() > bounds_.entries || bytes_ > bounds_.bytes))
    drop(unused_.front());
}

void RegistrationCache::clear() noexcept {
  while (!unused_.empty()) drop(unused_.front());
}

}  // namespace lath::providers
