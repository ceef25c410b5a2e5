#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/result.hpp"
#include "datatypes/datatype.hpp"
#include "datatypes/layout.hpp"
#include "transport/include/lath/lath.h"
#include "transport/worker.hpp"

/// What the C API's functions share: handles, the calling thread's last error, and the border that no
/// exception crosses.
namespace lath::transport::c_api {

/// Keeps the text for lath_last_error() and returns the status of the error's code.
lath_status remember(const Error& error) noexcept;
lath_status remember(Code code, const char* text) noexcept;

/// Runs a function body: what it throws becomes a status.
template <class Body>
lath_status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    return remember(error);
  } catch (const std::bad_alloc&) {
    return remember(Code::no_memory, "out of memory");
  } catch (const std::exception& error) {
    return remember(Code::internal, error.what());
  }
}

lath_status status_of(const Result& result) noexcept;

/// Throw Error(invalid_argument) that names the argument.
[[noreturn]] void refuse(const char* argument, std::string_view why);
template <class T>
T* not_null(T* pointer, const char* argument) {
  if (pointer == nullptr) refuse(argument, "is NULL");
  return pointer;
}
std::int64_t not_negative(std::int64_t value, const char* argument);

/// Elements of `type` at `buffer`, as the transport takes them. Allocates only for a count that the handle
/// has not seen.
Data data_of(const void* buffer, std::int64_t count, lath_type type);

inline Worker& worker_of(lath_worker worker) {
  return *reinterpret_cast<Worker*>(not_null(worker, "worker"));
}
inline Peer& peer_of(lath_peer peer) {
  return *reinterpret_cast<Peer*>(not_null(peer, "peer"));
}
inline Request& request_of(lath_request request) {
  return *reinterpret_cast<Request*>(not_null(request, "request"));
}
inline Worker& worker_of(const Request& request) {
  return request.engine->worker();
}
inline lath_request handle(Request* request) {
  return reinterpret_cast<lath_request>(request);
}

}  // namespace lath::transport::c_api

/// A datatype, with the layouts of the counts that it was used with, so that a repeated message builds none.
struct lath_type_s {
  explicit lath_type_s(lath::Datatype of) : datatype(std::move(of)) {}
  ~lath_type_s();
  lath_type_s(const lath_type_s&) = delete;
  lath_type_s& operator=(const lath_type_s&) = delete;

  /// Thread safe, without a lock.
  [[nodiscard]] lath::Layout layout(std::int64_t count);

  /// Where a segment begins in the packed bytes. Irregular layouts are walked, from the end of the page of
  /// segments that was asked for last where that helps. Thread safe.
  [[nodiscard]] std::int64_t packed_offset_of_segment(const lath::Layout& layout, std::int64_t count,
                                                      std::int64_t number);
  void keep_page(std::int64_t count, std::int64_t segment, std::int64_t packed);

  const lath::Datatype datatype;
  /// Whether any number of elements is one block, which then needs no layout.
  [[nodiscard]] bool is_dense() const noexcept { return dense_; }

 private:
  struct Entry {
    std::int64_t count;
    lath::Layout layout;
  };
  static constexpr std::size_t kept = 16;

  const bool dense_ = datatype.size() > 0 &&
                      datatype.size() == datatype.extent() && datatype.true_extent() == datatype.size() &&
                      lath::Layout::of(datatype, 1).kind() == lath::LayoutKind::contiguous;
  std::array<std::atomic<Entry*>, kept> entries_{};

  struct Page {
    std::int64_t count = 0;
    std::int64_t segment = 0;
    std::int64_t packed = 0;
  };
  std::mutex page_mutex_;
  Page page_;  // guarded by page_mutex_
};
