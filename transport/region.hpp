#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "providers/provider.hpp"

namespace lath::transport {

class Engine;
class Peer;

/// Memory that peers may put to and get from. Owned by its worker.
struct Region {
  Engine* engine = nullptr;
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::uint64_t id = 0;
  std::uint64_t secret = 0;  ///< peers must name it: a stale or invented key opens nothing
  bool writable = true;
  std::unique_ptr<providers::Registration> registration;  ///< null: reached by messages only
  std::vector<Peer*> admitted;                            ///< who may reach it directly

  [[nodiscard]] std::vector<std::byte> key() const;
};

/// A region as its peers know it. It opens nothing by itself: the target compares it with what is there.
struct RegionKey {
  std::uint64_t worker = 0;
  std::uint64_t id = 0;
  std::uint64_t secret = 0;
  std::uint64_t bytes = 0;

  /// Throws Error(invalid_argument).
  static RegionKey decode(std::span<const std::byte> key);
};

/// What the target said of a region, before it is read or written directly: a NIC that is given a key that
/// is not valid may break the connection, and everything on it.
struct Admission {
  enum class State : std::uint8_t { asked, granted, ended };
  State state = State::asked;
  std::uint64_t bytes = 0;
  std::uint64_t rma_key = 0;
  std::uint64_t rma_address = 0;
  bool rma = false;
  bool writable = false;
  std::unique_ptr<Error> error;  ///< of `ended`
};

}  // namespace lath::transport
