#include <fmt/format.h>

#include "base/counters.hpp"
#include "base/error.hpp"
#include "cli/information.hpp"
#include "transport/scheme.hpp"

namespace lath::cli {

WorkerMemory worker_memory() {
  WorkerMemory out;
  try {
    const auto provider = providers::open();
    Counters counters;
    const transport::SchemeFactory factory(*provider, counters);
    out.provider = provider->name();
    out.items.push_back({"provider's buffers", provider->memory_bytes(), "fixed"});
    out.items.push_back({"bounce buffers", factory.memory_bytes(),
                         fmt::format("at most {} bytes", factory.memory_limit_bytes())});
  } catch (const Error& error) {
    out.problem = error.what();
  }
  return out;
}

}  // namespace lath::cli
