#include "transport/address_check.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tests/transport/pair.hpp"

namespace lath::transport {
namespace {

constexpr std::size_t page = 4096;

/// Pages of this process, unmapped at the end.
class Pages {
 public:
  explicit Pages(std::size_t count)
      : bytes_(count * page),
        address_(static_cast<char*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Pages() { munmap(address_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] char* at(std::size_t number) const { return address_ + number * page; }
  void protect(std::size_t first, std::size_t count, int protection) const {
    ASSERT_EQ(mprotect(at(first), count * page, protection), 0);
  }
  void unmap(std::size_t first, std::size_t count) const { munmap(at(first), count * page); }

 private:
  std::size_t bytes_;
  char* address_;
};

Code code_of(const Result& result) {
  return result.is_error() ? result.error().lath_code() : Code{};
}

Data bytes_at(char* address, std::size_t bytes) {
  return {address, static_cast<std::int64_t>(bytes), {}};
}

/// Every check twice, with a message that succeeds in between: what is remembered must not hide anything.
void expect_refused(Pair& pair, const Data& data, bool sends) {
  for (int round : {0, 1}) {
    int value = round, in = -1;
    Request* request = nullptr;
    if (sends) {
      EXPECT_EQ(code_of(pair[0].send(pair.peer(0), data, 0, 1, false, request)), Code::bad_address);
    }
    EXPECT_EQ(code_of(pair[0].receive(data, {0, 1, 1}, request)), Code::bad_address);
    Request* receive = pair.receive(1, bytes_at(reinterpret_cast<char*>(&in), 4), 2);
    Request* send = pair.send(0, bytes_at(reinterpret_cast<char*>(&value), 4), 2);
    EXPECT_EQ(pair.wait(1, receive).error, nullptr);
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_EQ(in, round);
  }
}

TEST(AddressCheck, UnmappedMemory) {
  Pair pair;
  const Pages pages(400);
  pages.unmap(0, 400);
  expect_refused(pair, bytes_at(nullptr, 8), true);
  expect_refused(pair, bytes_at(reinterpret_cast<char*>(64), 8), true);
  expect_refused(pair, bytes_at(pages.at(0), 8), true);
  expect_refused(pair, bytes_at(pages.at(1) - 4, 8), true);
  expect_refused(pair, bytes_at(pages.at(0), 300 * page), true);
  for (const char* type : {"vector(2,1,4,int)", "vector(1000,8,16,int)", "vector(2,8,100000,char)"})
    expect_refused(pair, Data::of(pages.at(0), Layout::of(parse_type(type), 1)), true);
}

TEST(AddressCheck, MemoryThatEndsWithinAMessage) {
  Pair pair;
  const Pages pages(400);
  pages.unmap(200, 200);
  expect_refused(pair, bytes_at(pages.at(200) - 4, 8), true);
  expect_refused(pair, bytes_at(pages.at(0), 201 * page), true);
  expect_refused(pair, Data::of(pages.at(199), Layout::of(parse_type("vector(2,8,4096,char)"), 1)), true);
}

TEST(AddressCheck, ReadOnlyMemoryIsSentFromAndNotReceivedInto) {
  Pair pair;
  const Pages pages(100);
  pages.protect(0, 100, PROT_READ);
  for (const Data& data : {bytes_at(pages.at(0), 8), bytes_at(pages.at(0), 100 * page),
                           Data::of(pages.at(0), Layout::of(parse_type("vector(100,8,16,int)"), 1))}) {
    expect_refused(pair, data, false);
    std::vector<char> in(static_cast<std::size_t>(data.bytes), 1);
    Request* receive = pair.receive(1, data_of(in));
    Request* send = pair.send(0, data);
    EXPECT_EQ(pair.wait(1, receive).error, nullptr);
    EXPECT_EQ(pair.wait(0, send).error, nullptr);
    EXPECT_EQ(in, std::vector<char>(in.size(), 0));
  }
}

TEST(AddressCheck, ABlockInReadOnlyMemoryIsFound) {
  Pair pair;
  const Pages pages(3);
  pages.protect(2, 1, PROT_READ);
  expect_refused(pair, Data::of(pages.at(0), Layout::of(parse_type("vector(2,8,8192,char)"), 1)), false);
  pages.protect(2, 1, PROT_NONE);
  expect_refused(pair, Data::of(pages.at(0), Layout::of(parse_type("vector(2,8,8192,char)"), 1)), true);
}

TEST(AddressCheck, AHoleOfATypeNeedNotBeMappedAndStaysUnknown) {
  for (const char* type : {"vector(2,8,8192,char)", "vector(2,8,262144,char)"}) {
    Pair pair;
    const Pages pages(65);
    pages.unmap(1, 1);
    const Data data = Data::of(pages.at(0), Layout::of(parse_type(type), 1));
    for (int round : {0, 1}) {
      Request* receive = pair.receive(1, data, round);
      Request* send = pair.send(0, data, round);
      EXPECT_EQ(pair.wait(1, receive).error, nullptr);
      EXPECT_EQ(pair.wait(0, send).error, nullptr);
    }
    expect_refused(pair, bytes_at(pages.at(1), 8), true);
    expect_refused(pair, Data::of(pages.at(0), Layout::of(parse_type("vector(3,8,4096,char)"), 1)), true);
  }
}

TEST(AddressCheck, LongMemoryThatIsUnmappedAfterAMessageIsFound) {
  for (const char* type :
       {"contiguous(81920,char)", "vector(20,3000,4096,char)", "vector(2,40960,409600,char)"}) {
    Pair pair;
    const Pages pages(120);
    const Data data = Data::of(pages.at(0), Layout::of(parse_type(type), 1));
    std::vector<char> in(static_cast<std::size_t>(data.bytes), 1);
    for (int round : {0, 1}) {
      Request* receive = pair.receive(1, data_of(in), round);
      Request* send = pair.send(0, data, round);
      EXPECT_EQ(pair.wait(1, receive).error, nullptr);
      EXPECT_EQ(pair.wait(0, send).error, nullptr);
    }
    pages.unmap(5, 1);
    expect_refused(pair, data, true);
  }
}

TEST(AddressCheck, WritingIsTriedWithoutChangingAnything) {
  const Pages pages(2);
  for (std::size_t i = 0; i < 2 * page; ++i) pages.at(0)[i] = static_cast<char>(i * 31);
  for (std::size_t begin : {std::size_t{0}, std::size_t{1}, page - 1, page - 3})
    for (std::size_t bytes : {std::size_t{1}, std::size_t{2}, std::size_t{5}, page})
      EXPECT_TRUE(check_memory(bytes_at(pages.at(0) + begin, bytes), Access::write).result.is_done());
  for (std::size_t i = 0; i < 2 * page; ++i) ASSERT_EQ(pages.at(0)[i], static_cast<char>(i * 31));
}

TEST(AddressCheck, KnownMemoryIsWhatWasAdded) {
  const Pages pages(40);
  KnownMemory known;
  const Data contiguous = bytes_at(pages.at(3) + 100, 2 * page);
  EXPECT_FALSE(known.holds(bytes_at(nullptr, 8), Access::read));
  EXPECT_FALSE(known.holds(contiguous, Access::read));
  known.add(contiguous, Access::read, true);
  EXPECT_TRUE(known.holds(contiguous, Access::read));
  EXPECT_TRUE(known.holds(bytes_at(pages.at(4), page), Access::read));
  EXPECT_FALSE(known.holds(contiguous, Access::write));
  EXPECT_FALSE(known.holds(bytes_at(pages.at(2), 2 * page), Access::read));
  const Data wide = Data::of(pages.at(0), Layout::of(parse_type("vector(2,8,131072,char)"), 1));
  known.add(wide, Access::write, true);
  EXPECT_TRUE(known.holds(wide, Access::write));
  EXPECT_FALSE(known.holds(bytes_at(pages.at(0), 8), Access::write));
}

}  // namespace
}  // namespace lath::transport
