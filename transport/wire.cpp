#include "transport/wire.hpp"

#include <array>
#include <cstring>

namespace lath::transport::wire {
namespace {

constexpr std::uint32_t last_code = 13;

template <class T>
const char* read(std::span<const std::byte> bytes, T& out, Message& message) noexcept {
  if (bytes.size() < sizeof(T)) return "shorter than its kind";
  std::memcpy(&out, bytes.data(), sizeof(T));
  message.payload = bytes.subspan(sizeof(T));
  return nullptr;
}

const char* check_side(const Side& side) noexcept {
  if (side.bytes < 0) return "negative size";
  if (side.segments < 0 || side.segments > side.bytes) return "segment count does not fit the size";
  if (side.bytes > 0 && side.segments == 0) return "data without segments";
  if (side.uniform_block < 0 || side.uniform_block > side.bytes) return "block length does not fit the size";
  if (side.uniform_block > 0 && side.bytes / side.uniform_block != side.segments)
    return "block length and segment count do not make the size";
  if (side.alignment_log2 > 12) return "unknown alignment";
  if (side.memory > 1) return "unknown memory kind";
  if (side.mixed > 1) return "unknown mix of memory kinds";
  return nullptr;
}

const char* check_eager(const Message& message) noexcept {
  if (message.eager.tag < 0) return "negative tag";
  if (message.eager.bytes < 0 || static_cast<std::uint64_t>(message.eager.bytes) != message.payload.size())
    return "payload length differs from the size";
  return nullptr;
}

const char* check_rts(Message& message) noexcept {
  message.request = message.rts.receiver;
  if (message.rts.tag < 0) return "negative tag";
  if (message.rts.sender == 0) return "no sending request";
  if (!message.payload.empty()) return "longer than its kind";
  return check_side(message.rts.side);
}

const char* check_cts(Message& message) noexcept {
  const Cts& cts = message.cts;
  message.request = cts.sender;
  if (!message.payload.empty()) return "longer than its kind";
  if (cts.begin < 0 || cts.end < cts.begin) return "wanted range is not one";
  if (cts.chunk_bytes < 1) return "chunk size below 1";
  if (cts.credit < 0) return "negative credit";
  if (cts.slots < 1 || cts.slots > max_chunks_in_flight) return "chunks in flight out of range";
  if (static_cast<std::size_t>(cts.source) >= scheme_count) return "unknown source scheme";
  if (static_cast<std::size_t>(cts.sink) >= scheme_count) return "unknown sink scheme";
  return nullptr;
}

const char* check_credit(Message& message) noexcept {
  message.request = message.credit.sender;
  if (!message.payload.empty()) return "longer than its kind";
  return message.credit.credit < 0 ? "negative credit" : nullptr;
}

const char* check_halt(Message& message) noexcept {
  message.request = message.halt.receiver;
  if (!message.payload.empty()) return "longer than its kind";
  if (message.halt.chunk < 0) return "negative chunk number";
  return message.halt.code > last_code ? "unknown error code" : nullptr;
}

const char* check_abort(Message& message) noexcept {
  message.request = message.abort.request;
  if (message.abort.code < 1 || message.abort.code > last_code) return "unknown error code";
  if (message.abort.text_bytes > largest_text || message.abort.text_bytes != message.payload.size())
    return "text length differs from the message";
  return nullptr;
}

const char* check_window(const Message& message) noexcept {
  if (!message.payload.empty()) return "longer than its kind";
  return message.window.bytes < 0 ? "negative window" : nullptr;
}

const char* check_one_sided(Message& message) noexcept {
  const OneSided& operation = message.one_sided;
  if (operation.layout_bytes > largest_layout) return "layout too long";
  if (message.payload.size() > operation.layout_bytes) return "more layout bytes than announced";
  return check_side(operation.side);
}

const char* check_layout_part(const Message& message) noexcept {
  if (message.payload.empty()) return "no layout bytes";
  const std::uint64_t offset = message.layout_part.offset;
  if (offset > largest_layout || message.payload.size() > largest_layout - offset) return "layout too long";
  return nullptr;
}

const char* check_placed(Message& message) noexcept {
  message.request = message.placed.request;
  return message.payload.empty() ? nullptr : "longer than its kind";
}

const char* check_region(const Message& message) noexcept {
  if (!message.payload.empty()) return "longer than its kind";
  if (message.region.bytes > INT64_MAX) return "region too long";
  if (message.region.rma > 1 || message.region.writable > 1) return "a flag that is neither 0 nor 1";
  return nullptr;
}

const char* read_kind(std::span<const std::byte> bytes, Message& out) noexcept {
  const char* wrong = nullptr;
  switch (out.header.kind) {
    case Kind::eager:
      return (wrong = read(bytes, out.eager, out)) != nullptr ? wrong : check_eager(out);
    case Kind::rts:
      return (wrong = read(bytes, out.rts, out)) != nullptr ? wrong : check_rts(out);
    case Kind::cts:
      return (wrong = read(bytes, out.cts, out)) != nullptr ? wrong : check_cts(out);
    case Kind::credit:
      return (wrong = read(bytes, out.credit, out)) != nullptr ? wrong : check_credit(out);
    case Kind::halt:
      return (wrong = read(bytes, out.halt, out)) != nullptr ? wrong : check_halt(out);
    case Kind::abort:
      return (wrong = read(bytes, out.abort, out)) != nullptr ? wrong : check_abort(out);
    case Kind::window:
      return (wrong = read(bytes, out.window, out)) != nullptr ? wrong : check_window(out);
    case Kind::put:
    case Kind::get:
      return (wrong = read(bytes, out.one_sided, out)) != nullptr ? wrong : check_one_sided(out);
    case Kind::layout_part:
      return (wrong = read(bytes, out.layout_part, out)) != nullptr ? wrong : check_layout_part(out);
    case Kind::placed:
      return (wrong = read(bytes, out.placed, out)) != nullptr ? wrong : check_placed(out);
    case Kind::region_open:
    case Kind::region_opened:
    case Kind::region_closed:
      return (wrong = read(bytes, out.region, out)) != nullptr ? wrong : check_region(out);
  }
  return "unknown kind";
}

}  // namespace

const char* parse(std::span<const std::byte> bytes, Message& out) noexcept {
  out.header_valid = false;
  out.request = 0;
  if (read(bytes, out.header, out) != nullptr) return "shorter than a header";
  if (out.header.version != version) return "unknown version";
  out.header_valid = true;
  return read_kind(bytes, out);
}

std::string_view name(Kind kind) noexcept {
  constexpr std::array<std::string_view, 15> names{
      "unknown", "eager", "rts",         "cts",    "credit",      "halt",          "abort",        "window",
      "put",     "get",   "layout part", "placed", "region open", "region opened", "region closed"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : names[0];
}

Side to_wire(const Summary& summary, bool mixed) noexcept {
  Side side;
  side.bytes = summary.bytes;
  side.segments = summary.segments;
  side.uniform_block = summary.uniform_block;
  side.hash_low = summary.hash.low;
  side.hash_high = summary.hash.high;
  side.alignment_log2 =
      static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(summary.alignment)));
  side.memory = summary.memory == providers::MemoryKind::device ? 1 : 0;
  side.mixed = mixed ? 1 : 0;
  return side;
}

Summary from_wire(const Side& side) noexcept {
  Summary summary;
  summary.bytes = side.bytes;
  summary.segments = side.segments;
  summary.uniform_block = side.uniform_block;
  summary.alignment = std::int64_t{1} << side.alignment_log2;
  summary.hash = {side.hash_low, side.hash_high};
  summary.memory = side.memory == 1 ? providers::MemoryKind::device : providers::MemoryKind::host;
  return summary;
}

}  // namespace lath::transport::wire
