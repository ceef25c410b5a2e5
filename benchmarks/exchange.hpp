#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/message_buffer.hpp"
#include "benchmarks/pair.hpp"
#include "datatypes/datatype.hpp"
#include "lath/lath.h"

namespace lath::benchmarks {

/// Buffers of one process for messages both ways, and the type by which it describes them.
struct Ends {
  Ends(const Datatype& type, std::int64_t elements, Memory memory);

  std::int64_t count;
  Type handle;
  MessageBuffer outgoing, incoming;
};

/// One process' part of round trips over the C API: the first process sends first. Throws where a call fails.
class Exchange {
 public:
  static constexpr std::int64_t tag = 1;

  Exchange(Pair& pair, Ends& ends) : pair_(pair), ends_(ends) {}

  /// Half round trips in microseconds; empty in the second process. Collective.
  std::vector<double> run(std::int64_t iterations);

 private:
  lath_request receive();
  lath_request send();
  std::vector<double> ping(std::int64_t iterations);
  void pong(std::int64_t iterations);

  Pair& pair_;
  Ends& ends_;
};

}  // namespace lath::benchmarks
