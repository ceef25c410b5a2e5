#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "cli/fabric_environment.hpp"
#include "gpu/device.hpp"
#include "providers/registry.hpp"

namespace lath::cli {

/// A variable of the registry with its value in force.
struct VariableState {
  config::Variable variable;
  std::string value = {};    ///< as text
  bool set = false;          ///< by the environment
  std::string problem = {};  ///< why the value cannot be used; empty where it can
};

/// One item of a worker's memory.
struct MemoryItem {
  std::string what;
  std::size_t bytes = 0;  ///< just after opening
  std::string bound;      ///< what it grows to, in words
};

/// What a worker of the default provider takes of memory, or why there is none.
struct WorkerMemory {
  std::string provider;
  std::string problem;
  std::vector<MemoryItem> items;
};

/// Everything that `lath info` says.
struct Information {
  std::string version;
  std::vector<std::pair<std::string, std::string>> build;  ///< what was compiled in, or why not
  gpu::Availability gpu;
  std::vector<providers::Candidate> providers;
  WorkerMemory worker;
  std::vector<VariableState> variables = {};
  std::vector<config::Unknown> unknown = {};
  std::vector<FabricWarning> fabric = {};  ///< settings of libfabric's that hurt
};

/// Opens a worker of the default provider to ask it.
[[nodiscard]] WorkerMemory worker_memory();

[[nodiscard]] std::string as_text(const Information& information);
[[nodiscard]] nlohmann::ordered_json as_json(const Information& information);

}  // namespace lath::cli
