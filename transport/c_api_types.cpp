#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "datatypes/cursor.hpp"
#include "datatypes/type_spec.hpp"
#include "transport/address_check.hpp"
#include "transport/c_api.hpp"
#include "transport/local_pack.hpp"

using namespace lath;
using namespace lath::transport;
using namespace lath::transport::c_api;

lath_type_s::~lath_type_s() {
  for (auto& entry : entries_) delete entry.load();
}

lath::Layout lath_type_s::layout(std::int64_t count) {
  for (auto& place : entries_) {
    Entry* entry = place.load(std::memory_order_acquire);
    if (entry == nullptr) {
      auto made = std::make_unique<Entry>(Entry{count, Layout::of(datatype, count)});
      if (place.compare_exchange_strong(entry, made.get(), std::memory_order_acq_rel))
        return made.release()->layout;
    }
    if (entry->count == count) return entry->layout;
  }
  return Layout::of(datatype, count);
}

std::int64_t lath_type_s::packed_offset_of_segment(const lath::Layout& layout, std::int64_t count,
                                                   std::int64_t number) {
  if (layout.uniform_block() > 0) return number * layout.uniform_block();
  if (const auto table = layout.table()) return table->prefix[static_cast<std::size_t>(number)];
  Page from;
  {
    const std::lock_guard guard(page_mutex_);
    if (page_.count == count && page_.segment <= number) from = page_;
  }
  lath::Cursor cursor(layout, from.packed);
  for (; from.segment < number; ++from.segment) (void)cursor.next();
  return cursor.position();
}

void lath_type_s::keep_page(std::int64_t count, std::int64_t segment, std::int64_t packed) {
  const std::lock_guard guard(page_mutex_);
  page_ = {count, segment, packed};
}

namespace lath::transport::c_api {

Data data_of(const void* buffer, std::int64_t count, lath_type type) {
  not_negative(count, "count");
  not_null(type, "type");
  void* address = const_cast<void*>(buffer);
  if (count == 0) return {address, 0, {}};
  if (!type->is_dense()) return Data::of(address, type->layout(count));
  const std::int64_t size = type->datatype.size();
  if (count > INT64_MAX / size) refuse("count", "makes a message of more than 2^63 bytes");
  const auto at = reinterpret_cast<std::uintptr_t>(buffer) +
                  static_cast<std::uintptr_t>(type->datatype.true_lower_bound());
  return {reinterpret_cast<void*>(at), count * size, {}};
}

}  // namespace lath::transport::c_api

namespace {

std::span<const std::int64_t> list(const int64_t* values, std::int64_t count, const char* argument) {
  if (count > 0) not_null(values, argument);
  if (count > INT64_MAX / 16) refuse("count", fmt::format("is {}, more than memory holds", count));
  return {values, static_cast<std::size_t>(count)};
}

const Datatype& inner_of(lath_type inner) {
  return not_null(inner, "inner")->datatype;
}

Order order_of(lath_order order) {
  if (order != LATH_ORDER_C && order != LATH_ORDER_FORTRAN) refuse("order", "is not a lath_order");
  return order == LATH_ORDER_C ? Order::c : Order::fortran;
}

Distribution distribution_of(lath_distribution distribution) {
  switch (distribution) {
    case LATH_DISTRIBUTE_BLOCK:
      return Distribution::block;
    case LATH_DISTRIBUTE_CYCLIC:
      return Distribution::cyclic;
    case LATH_DISTRIBUTE_NONE:
      return Distribution::none;
  }
  refuse("distributions", "has an entry that is not a lath_distribution");
}

/// Makes a type with `construct` and hands it out.
template <class Construct>
lath_status make_type(lath_type* type, Construct construct) {
  return guarded([&] {
    *not_null(type, "type") = nullptr;
    *type = std::make_unique<lath_type_s>(construct()).release();
    return LATH_OK;
  });
}

}  // namespace

lath_status lath_type_parse(const char* text, lath_type* type) {
  return make_type(type, [&] { return parse_type(not_null(text, "text")); });
}

lath_status lath_type_contiguous(int64_t count, lath_type inner, lath_type* type) {
  return make_type(type, [&] { return Datatype::contiguous(count, inner_of(inner)); });
}

lath_status lath_type_vector(int64_t count, int64_t block_length, int64_t stride, lath_type inner,
                             lath_type* type) {
  return make_type(type, [&] { return Datatype::vector(count, block_length, stride, inner_of(inner)); });
}

lath_status lath_type_hvector(int64_t count, int64_t block_length, int64_t stride_bytes, lath_type inner,
                              lath_type* type) {
  return make_type(type,
                   [&] { return Datatype::hvector(count, block_length, stride_bytes, inner_of(inner)); });
}

lath_status lath_type_indexed(int64_t count, const int64_t* block_lengths, const int64_t* displacements,
                              lath_type inner, lath_type* type) {
  return make_type(type, [&] {
    not_negative(count, "count");
    return Datatype::indexed(list(block_lengths, count, "block_lengths"),
                             list(displacements, count, "displacements"), inner_of(inner));
  });
}

lath_status lath_type_hindexed(int64_t count, const int64_t* block_lengths,
                               const int64_t* displacements_bytes, lath_type inner, lath_type* type) {
  return make_type(type, [&] {
    not_negative(count, "count");
    return Datatype::hindexed(list(block_lengths, count, "block_lengths"),
                              list(displacements_bytes, count, "displacements_bytes"), inner_of(inner));
  });
}

lath_status lath_type_indexed_block(int64_t count, int64_t block_length, const int64_t* displacements,
                                    lath_type inner, lath_type* type) {
  return make_type(type, [&] {
    not_negative(count, "count");
    return Datatype::indexed_block(block_length, list(displacements, count, "displacements"),
                                   inner_of(inner));
  });
}

lath_status lath_type_hindexed_block(int64_t count, int64_t block_length, const int64_t* displacements_bytes,
                                     lath_type inner, lath_type* type) {
  return make_type(type, [&] {
    not_negative(count, "count");
    return Datatype::hindexed_block(block_length, list(displacements_bytes, count, "displacements_bytes"),
                                    inner_of(inner));
  });
}

lath_status lath_type_struct(int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes,
                             const lath_type* members, lath_type* type) {
  return make_type(type, [&] {
    not_negative(count, "count");
    if (count > 0) not_null(members, "members");
    std::vector<Datatype> types;
    types.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) types.push_back(not_null(members[i], "members[i]")->datatype);
    return Datatype::struct_(list(block_lengths, count, "block_lengths"),
                             list(displacements_bytes, count, "displacements_bytes"), types);
  });
}

lath_status lath_type_subarray(int64_t dimensions, const int64_t* sizes, const int64_t* subsizes,
                               const int64_t* starts, lath_order order, lath_type inner, lath_type* type) {
  return make_type(type, [&] {
    not_negative(dimensions, "dimensions");
    return Datatype::subarray(list(sizes, dimensions, "sizes"), list(subsizes, dimensions, "subsizes"),
                              list(starts, dimensions, "starts"), order_of(order), inner_of(inner));
  });
}

lath_status lath_type_darray(int64_t size, int64_t rank, int64_t dimensions, const int64_t* gsizes,
                             const lath_distribution* distributions, const int64_t* arguments,
                             const int64_t* psizes, lath_order order, lath_type inner, lath_type* type) {
  return make_type(type, [&] {
    not_negative(dimensions, "dimensions");
    if (dimensions > 0) not_null(distributions, "distributions");
    std::vector<Distribution> kinds;
    for (std::int64_t i = 0; i < dimensions; ++i) kinds.push_back(distribution_of(distributions[i]));
    return Datatype::darray(size, rank, list(gsizes, dimensions, "gsizes"), kinds,
                            list(arguments, dimensions, "arguments"), list(psizes, dimensions, "psizes"),
                            order_of(order), inner_of(inner));
  });
}

lath_status lath_type_resized(int64_t lower_bound, int64_t extent, lath_type inner, lath_type* type) {
  return make_type(type, [&] { return Datatype::resized(lower_bound, extent, inner_of(inner)); });
}

lath_status lath_type_dup(lath_type inner, lath_type* type) {
  return make_type(type, [&] { return Datatype::dup(inner_of(inner)); });
}

void lath_type_free(lath_type type) {
  delete type;
}

lath_status lath_type_bounds(lath_type type, int64_t* size, int64_t* lower_bound, int64_t* extent,
                             int64_t* true_lower_bound, int64_t* true_extent) {
  return guarded([&] {
    const Datatype& of = not_null(type, "type")->datatype;
    if (size != nullptr) *size = of.size();
    if (lower_bound != nullptr) *lower_bound = of.lower_bound();
    if (extent != nullptr) *extent = of.extent();
    if (true_lower_bound != nullptr) *true_lower_bound = of.true_lower_bound();
    if (true_extent != nullptr) *true_extent = of.true_extent();
    return LATH_OK;
  });
}

lath_status lath_type_text(lath_type type, char* text, size_t capacity, size_t* needed) {
  return guarded([&] {
    const std::string whole = to_text(not_null(type, "type")->datatype);
    if (capacity > 0) {
      const std::size_t fits = std::min(capacity - 1, whole.size());
      std::memcpy(not_null(text, "text"), whole.data(), fits);
      text[fits] = 0;
    }
    if (needed != nullptr) *needed = whole.size();
    return LATH_OK;
  });
}

lath_status lath_type_segments(lath_type type, int64_t count, int64_t first, lath_segment* segments,
                               size_t capacity, size_t* filled, int64_t* total) {
  return guarded([&] {
    not_null(filled, "filled");
    *filled = 0;
    if (capacity > 0) not_null(segments, "segments");
    const Layout layout = not_null(type, "type")->layout(not_negative(count, "count"));
    if (total != nullptr) *total = layout.segment_count();
    if (not_negative(first, "first") >= layout.segment_count()) return LATH_OK;
    const std::size_t wanted = static_cast<std::size_t>(
        std::min(static_cast<std::uint64_t>(layout.segment_count() - first), std::uint64_t{capacity}));
    Cursor cursor(layout, type->packed_offset_of_segment(layout, count, first));
    for (; *filled < wanted; ++*filled) {
      const LayoutSegment segment = cursor.next();
      segments[*filled] = {segment.offset, segment.length};
    }
    type->keep_page(count, first + static_cast<std::int64_t>(wanted), cursor.position());
    return LATH_OK;
  });
}

namespace {

void must_be_memory(const Data& data, Access access) {
  const Result result = check_memory(data, access).result;
  if (result.is_error()) throw Error(result.error());
}

/// What lath_pack and lath_unpack have in common.
Layout checked(const void* buffer, std::int64_t count, lath_type type, PackedRange range, const void* packed,
               Access buffer_access) {
  Layout layout = not_null(type, "type")->layout(not_negative(count, "count"));
  not_negative(range.begin, "packed_offset");
  if (range.end < range.begin || range.end > layout.bytes())
    refuse("bytes", fmt::format("{} from offset {} lie outside the {} packed bytes", range.bytes(),
                                range.begin, layout.bytes()));
  if (range.bytes() == 0) return layout;
  not_null(packed, "packed");
  const Access packed_access = buffer_access == Access::read ? Access::write : Access::read;
  must_be_memory(Data::of(const_cast<void*>(buffer), layout), buffer_access);
  must_be_memory({const_cast<void*>(packed), range.bytes(), {}}, packed_access);
  return layout;
}

PackedRange range_of(std::int64_t packed_offset, std::int64_t bytes) {
  not_negative(bytes, "bytes");
  if (packed_offset > INT64_MAX - bytes) refuse("packed_offset", "is too large");
  return {packed_offset, packed_offset + bytes};
}

}  // namespace

lath_status lath_pack(const void* buffer, int64_t count, lath_type type, int64_t packed_offset, int64_t bytes,
                      void* packed) {
  return guarded([&] {
    const PackedRange range = range_of(packed_offset, bytes);
    const Layout layout = checked(buffer, count, type, range, packed, Access::read);
    return status_of(pack_anywhere(layout, buffer, range, packed));
  });
}

lath_status lath_unpack(void* buffer, int64_t count, lath_type type, int64_t packed_offset, int64_t bytes,
                        const void* packed) {
  return guarded([&] {
    const PackedRange range = range_of(packed_offset, bytes);
    const Layout layout = checked(buffer, count, type, range, packed, Access::write);
    return status_of(unpack_anywhere(layout, buffer, range, packed));
  });
}
