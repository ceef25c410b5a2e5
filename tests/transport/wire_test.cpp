#include "transport/wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace lath::transport::wire {
namespace {

template <class Struct>
std::vector<std::byte> bytes_of(Struct message, Kind kind, std::size_t payload = 0) {
  message.header.kind = kind;
  std::vector<std::byte> bytes(sizeof message + payload, std::byte{1});
  std::memcpy(bytes.data(), &message, sizeof message);
  return bytes;
}

std::vector<std::vector<std::byte>> good_messages() {
  Side side;
  side.bytes = 48;
  side.segments = 3;
  side.uniform_block = 16;
  Eager eager;
  eager.bytes = 5;
  Rts rts;
  rts.sender = 9;
  rts.side = side;
  Cts cts;
  cts.sender = 9;
  cts.end = 48;
  cts.chunk_bytes = 16;
  Abort abort;
  abort.code = 2;
  abort.text_bytes = 4;
  OneSided one_sided;
  one_sided.layout_bytes = 10;
  one_sided.side = side;
  Window window;
  window.bytes = 100;
  return {bytes_of(eager, Kind::eager, 5),
          bytes_of(rts, Kind::rts),
          bytes_of(cts, Kind::cts),
          bytes_of(Credit{}, Kind::credit),
          bytes_of(Halt{}, Kind::halt),
          bytes_of(abort, Kind::abort, 4),
          bytes_of(window, Kind::window),
          bytes_of(one_sided, Kind::put, 10),
          bytes_of(one_sided, Kind::get, 3),
          bytes_of(LayoutPart{}, Kind::layout_part, 7),
          bytes_of(Placed{}, Kind::placed),
          bytes_of(RegionState{}, Kind::region_open),
          bytes_of(RegionState{}, Kind::region_opened),
          bytes_of(RegionState{}, Kind::region_closed)};
}

TEST(Wire, GoodMessagesAreRead) {
  for (const auto& bytes : good_messages()) {
    Message message;
    EXPECT_EQ(parse(bytes, message), nullptr) << name(message.header.kind);
    EXPECT_TRUE(message.header_valid);
  }
}

TEST(Wire, ShortenedMessagesAreRefused) {
  for (const auto& bytes : good_messages())
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      Message message;
      const char* wrong = parse(cut, message);
      const bool has_optional_tail = static_cast<Kind>(bytes[1]) == Kind::put ||
                                     static_cast<Kind>(bytes[1]) == Kind::get ||
                                     static_cast<Kind>(bytes[1]) == Kind::layout_part;
      if (!has_optional_tail) {
        EXPECT_NE(wrong, nullptr);
      }
    }
}

template <class Change>
const char* parse_changed(Kind kind, Change change) {
  for (auto bytes : good_messages()) {
    if (static_cast<Kind>(bytes[1]) != kind) continue;
    change(bytes);
    Message message;
    return parse(bytes, message);
  }
  return nullptr;
}

template <class Struct, class Field, class Value>
const char* parse_with(Kind kind, Field Struct::*field, Value value) {
  return parse_changed(kind, [&](std::vector<std::byte>& bytes) {
    Struct message;
    std::memcpy(static_cast<void*>(&message), bytes.data(), sizeof message);
    message.*field = static_cast<Field>(value);
    std::memcpy(bytes.data(), &message, sizeof message);
  });
}

TEST(Wire, EveryFieldIsChecked) {
  EXPECT_STREQ(parse_changed(Kind::eager, [](auto& bytes) { bytes[0] = std::byte{9}; }), "unknown version");
  EXPECT_STREQ(parse_changed(Kind::eager, [](auto& bytes) { bytes[1] = std::byte{0}; }), "unknown kind");
  EXPECT_STREQ(parse_changed(Kind::eager, [](auto& bytes) { bytes[1] = std::byte{99}; }), "unknown kind");
  EXPECT_STREQ(parse_with(Kind::eager, &Eager::tag, -1), "negative tag");
  EXPECT_STREQ(parse_with(Kind::eager, &Eager::bytes, -1), "payload length differs from the size");
  EXPECT_STREQ(parse_with(Kind::eager, &Eager::bytes, 6), "payload length differs from the size");
  EXPECT_STREQ(parse_with(Kind::rts, &Rts::sender, 0), "no sending request");
  EXPECT_STREQ(parse_with(Kind::cts, &Cts::begin, 49), "wanted range is not one");
  EXPECT_STREQ(parse_with(Kind::cts, &Cts::chunk_bytes, 0), "chunk size below 1");
  EXPECT_STREQ(parse_with(Kind::cts, &Cts::credit, -1), "negative credit");
  EXPECT_STREQ(parse_with(Kind::cts, &Cts::slots, 0), "chunks in flight out of range");
  EXPECT_STREQ(parse_with(Kind::cts, &Cts::source, 5), "unknown source scheme");
  EXPECT_STREQ(parse_with(Kind::cts, &Cts::sink, 200), "unknown sink scheme");
  EXPECT_STREQ(parse_with(Kind::halt, &Halt::code, 14), "unknown error code");
  EXPECT_STREQ(parse_with(Kind::abort, &Abort::code, 0), "unknown error code");
  EXPECT_STREQ(parse_with(Kind::abort, &Abort::text_bytes, 5), "text length differs from the message");
  EXPECT_STREQ(parse_with(Kind::window, &Window::bytes, -5), "negative window");
  EXPECT_STREQ(parse_with(Kind::put, &OneSided::layout_bytes, 9), "more layout bytes than announced");
  EXPECT_STREQ(parse_with(Kind::put, &OneSided::layout_bytes, largest_layout + 1), "layout too long");
  Side side;
  side.bytes = 48;
  side.segments = 49;
  EXPECT_STREQ(parse_with(Kind::rts, &Rts::side, side), "segment count does not fit the size");
  side.segments = 2;
  side.uniform_block = 16;
  EXPECT_STREQ(parse_with(Kind::rts, &Rts::side, side),
               "block length and segment count do not make the size");
  side.segments = 3;
  side.memory = 2;
  EXPECT_STREQ(parse_with(Kind::rts, &Rts::side, side), "unknown memory kind");
}

TEST(Wire, RandomBytesNeverReadOutside) {
  std::mt19937 random(1);
  const auto seeds = good_messages();
  for (int i = 0; i < 200000; ++i) {
    std::vector<std::byte> bytes = seeds[random() % seeds.size()];
    for (auto flips = random() % 6; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    bytes.resize(random() % 8 == 0 ? random() % 200 : bytes.size());
    Message message;
    if (parse(bytes, message) == nullptr) {
      EXPECT_LE(message.payload.size(), bytes.size());
    }
  }
}

TEST(Wire, SummaryTravels) {
  Summary summary;
  summary.bytes = 1 << 20;
  summary.segments = 1 << 10;
  summary.uniform_block = 1 << 10;
  summary.alignment = 4096;
  summary.hash = {1, 2};
  summary.memory = providers::MemoryKind::device;
  const Summary there = from_wire(to_wire(summary, true));
  EXPECT_EQ(there.bytes, summary.bytes);
  EXPECT_EQ(there.segments, summary.segments);
  EXPECT_EQ(there.uniform_block, summary.uniform_block);
  EXPECT_EQ(there.alignment, summary.alignment);
  EXPECT_EQ(there.hash, summary.hash);
  EXPECT_EQ(there.memory, summary.memory);
}

}  // namespace
}  // namespace lath::transport::wire
