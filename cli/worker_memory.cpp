#include "base/error.hpp"
#include "cli/information.hpp"
#include "transport/worker.hpp"

namespace lath::cli {

WorkerMemory worker_memory() {
  WorkerMemory out;
  try {
    transport::Worker worker(providers::open());
    out.provider = worker.provider_name();
    for (auto& use : worker.memory())
      out.items.push_back({std::move(use.what), use.bytes, std::move(use.bound)});
  } catch (const Error& error) {
    out.problem = error.what();
  }
  return out;
}

}  // namespace lath::cli
