#include "gpu/uploaded_lists.hpp"

#include <algorithm>

#include "datatypes/cursor.hpp"

namespace lath::gpu {
namespace {

// prefix has one entry more than offsets; both lie in one block, so that one copy uploads them.
constexpr std::size_t list_bytes(std::size_t segments) {
  return (2 * segments + 1) * sizeof(std::int64_t);
}

}  // namespace

UploadedList::UploadedList(int device, std::size_t capacity)
    : capacity_(capacity),
      host_(device, list_bytes(capacity)),
      device_(device, list_bytes(capacity)),
      used_(device) {}

void UploadedList::fill(const Layout& layout, const ListKey& key) {
  auto* const prefix = host_prefix();
  auto* const offsets = prefix + capacity_ + 1;  // moved down once their number is known
  Cursor cursor(layout, key.begin);
  std::size_t count = 0;
  std::uint64_t geometry = 0;
  prefix[0] = 0;
  while (cursor.position() < key.end && count < capacity_) {
    const auto segment = cursor.next(key.end - cursor.position());
    offsets[count] = segment.offset - layout.lowest();
    geometry |= static_cast<std::uint64_t>(offsets[count] - offsets[0]);
    geometry |= static_cast<std::uint64_t>(segment.length);
    ++count;
    prefix[count] = prefix[count - 1] + segment.length;
  }
  std::copy_n(offsets, count, prefix + count + 1);
  key_ = key;
  segments_ = count;
  covered_ = cursor.position();
  geometry_ = geometry;
}

UploadedList* UploadedLists::find(const ListKey& key) noexcept {
  for (auto& list : lists_)
    if (list->key_ == key) return list.get();
  return nullptr;
}

Result UploadedLists::vacant(const Size& size, bool wait, UploadedList*& out) {
  const auto fits = [&](const auto& list) { return list->capacity_ == size.capacity; };
  const auto present = static_cast<std::size_t>(std::count_if(lists_.begin(), lists_.end(), fits));
  if (present < size.most_lists) {
    out = lists_.emplace_back(std::make_unique<UploadedList>(device_, size.capacity)).get();
    return Result::done();
  }
  UploadedList* oldest = nullptr;
  for (auto& list : lists_)
    if (fits(list) && (oldest == nullptr || list->last_use_ < oldest->last_use_)) oldest = list.get();
  out = oldest;
  return wait ? oldest->used_.synchronize() : oldest->used_.poll();
}

Result UploadedLists::acquire(const Layout& layout, const ListKey& key, std::size_t most, bool wait,
                              Stream& stream, UploadedList*& out) noexcept {
  out = find(key);
  if (out != nullptr) return out->used_on_ == stream.get() ? Result::done() : stream.wait(out->used_);
  const auto size =
      std::find_if(sizes.begin(), sizes.end() - 1, [&](const Size& s) { return s.capacity >= most; });
  try {
    if (Result found = vacant(*size, wait, out); !found.is_done()) return found;
  } catch (const Error& error) {
    return Result::failure(error);
  }
  out->fill(layout, key);
  Result uploaded = stream.copy(out->device_.data(), out->host_.data(), list_bytes(out->segments_));
  if (uploaded.is_error()) out->key_ = {};
  return uploaded;
}

Result UploadedLists::release(UploadedList& list, Stream& stream) noexcept {
  list.last_use_ = ++uses_;
  list.used_on_ = stream.get();
  return stream.record(list.used_);
}

std::size_t UploadedLists::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& list : lists_) bytes += list_bytes(list->capacity_);
  return bytes;
}

std::size_t UploadedLists::memory_limit_bytes() noexcept {
  std::size_t bytes = 0;
  for (const auto& size : sizes) bytes += size.most_lists * list_bytes(size.capacity);
  return bytes;
}

}  // namespace lath::gpu
