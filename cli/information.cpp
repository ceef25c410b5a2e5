#include "cli/information.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

namespace lath::cli {
namespace {

using Json = nlohmann::ordered_json;

Json limits_json(const providers::Limits& limits) {
  return {{"send_list", limits.send_list},
          {"receive_list", limits.receive_list},
          {"rma_local_list", limits.rma_local_list},
          {"rma_remote_list", limits.rma_remote_list},
          {"inject_bytes", limits.inject_bytes},
          {"max_message", limits.max_message},
          {"max_control", limits.max_control},
          {"tag_mask", fmt::format("{:#x}", limits.tag_mask)},
          {"queue_depth", limits.queue_depth},
          {"rma", limits.rma},
          {"batched_writes", limits.batched_writes},
          {"device_memory", limits.device_memory},
          {"device_memory_reason", limits.device_memory_reason},
          {"local_registration", limits.local_registration},
          {"ordered", limits.ordered},
          {"manual_progress", limits.manual_progress}};
}

const char* yes_no(bool value) {
  return value ? "yes" : "no";
}

void append_candidate(fmt::memory_buffer& out, const providers::Candidate& candidate) {
  const auto to = std::back_inserter(out);
  if (!candidate.viable) {
    fmt::format_to(to, "  {:<12} not viable: {}\n", candidate.name, candidate.reason);
    return;
  }
  const providers::Limits& l = candidate.limits;
  fmt::format_to(to, "  {:<12} lists: send {}, receive {}, rma local {}, rma remote {}\n", candidate.name,
                 l.send_list, l.receive_list, l.rma_local_list, l.rma_remote_list);
  fmt::format_to(to, "  {:<12} bytes: inject {}, control {}, message {}; queue depth {}; memory {}\n", "",
                 l.inject_bytes, l.max_control, l.max_message, l.queue_depth, candidate.memory_bytes);
  fmt::format_to(to, "  {:<12} rma {}, local registration {}, ordered {}, manual progress {}\n", "",
                 yes_no(l.rma), yes_no(l.local_registration), yes_no(l.ordered), yes_no(l.manual_progress));
  fmt::format_to(to, "  {:<12} device memory {}{}{}\n", "", yes_no(l.device_memory),
                 l.device_memory_reason.empty() ? "" : ": ", l.device_memory_reason);
}

std::string gpu_text(const gpu::Availability& gpu) {
  if (!gpu.available) return "none: " + gpu.reason;
  std::map<std::string, int> counts;
  for (const std::string& name : gpu.device_names) ++counts[name];
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
  return text + (gpu.emulated ? " (emulated)" : "");
}

void append_variables(fmt::memory_buffer& out, const Information& information) {
  const auto to = std::back_inserter(out);
  for (const VariableState& state : information.variables) {
    fmt::format_to(to, "  {} = '{}'{} ({}, default '{}')\n      {}\n", state.variable.name, state.value,
                   state.set ? ", set" : "", name(state.variable.type), state.variable.default_value,
                   state.variable.meaning);
    if (!state.variable.choices.empty()) fmt::format_to(to, "      one of {}\n", state.variable.choices);
    if (!state.problem.empty()) fmt::format_to(to, "      UNUSABLE: {}\n", state.problem);
  }
  for (const config::Unknown& unknown : information.unknown)
    fmt::format_to(to, "  {} is set but unknown; nearest: {}\n", unknown.name, unknown.nearest);
}

}  // namespace

std::string as_text(const Information& information) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "lath {}\n\nbuild\n", information.version);
  for (const auto& [key, value] : information.build) fmt::format_to(to, "  {:<12} {}\n", key, value);
  fmt::format_to(to, "\nGPU\n  {}\n\nproviders, best first\n", gpu_text(information.gpu));
  if (information.providers.empty()) fmt::format_to(to, "  none built in\n");
  for (const providers::Candidate& candidate : information.providers) append_candidate(out, candidate);
  fmt::format_to(to, "\nmemory of a worker{}{}\n", information.worker.provider.empty() ? "" : " over ",
                 information.worker.provider);
  if (!information.worker.problem.empty())
    fmt::format_to(to, "  no worker: {}\n", information.worker.problem);
  for (const MemoryItem& item : information.worker.items)
    fmt::format_to(to, "  {}: {} bytes at start; bound: {}\n", item.what, item.bytes, item.bound);
  fmt::format_to(to, "\nvariables\n");
  append_variables(out, information);
  if (!information.fabric.empty()) fmt::format_to(to, "\nsettings of libfabric that hurt\n");
  for (const FabricWarning& warning : information.fabric)
    fmt::format_to(to, "  {} = '{}': {}\n", warning.variable, warning.value, warning.reason);
  return fmt::to_string(out);
}

Json as_json(const Information& information) {
  Json build = Json::object();
  for (const auto& [key, value] : information.build) build[key] = value;
  Json candidates = Json::array();
  for (const providers::Candidate& candidate : information.providers) {
    Json entry{{"name", candidate.name}, {"viable", candidate.viable}};
    if (candidate.viable) {
      entry["limits"] = limits_json(candidate.limits);
      entry["memory_bytes"] = candidate.memory_bytes;
    } else {
      entry["reason"] = candidate.reason;
    }
    candidates.push_back(std::move(entry));
  }
  Json variables = Json::array();
  for (const VariableState& state : information.variables) {
    Json entry{{"name", state.variable.name},
               {"type", name(state.variable.type)},
               {"default", state.variable.default_value},
               {"value", state.value},
               {"set", state.set},
               {"meaning", state.variable.meaning}};
    if (!state.variable.choices.empty()) entry["choices"] = state.variable.choices;
    if (!state.problem.empty()) entry["problem"] = state.problem;
    variables.push_back(std::move(entry));
  }
  Json unknown = Json::array();
  for (const config::Unknown& entry : information.unknown)
    unknown.push_back({{"name", entry.name}, {"nearest", entry.nearest}});
  Json fabric = Json::array();
  for (const FabricWarning& warning : information.fabric)
    fabric.push_back({{"name", warning.variable}, {"value", warning.value}, {"reason", warning.reason}});
  Json worker{{"provider", information.worker.provider}};
  if (!information.worker.problem.empty()) worker["problem"] = information.worker.problem;
  worker["memory"] = Json::array();
  for (const MemoryItem& item : information.worker.items)
    worker["memory"].push_back({{"what", item.what}, {"bytes", item.bytes}, {"bound", item.bound}});
  return {{"version", information.version},
          {"build", std::move(build)},
          {"gpu",
           {{"available", information.gpu.available},
            {"emulated", information.gpu.emulated},
            {"device_count", information.gpu.device_count},
            {"device_name", information.gpu.device_name},
            {"device_names", information.gpu.device_names},
            {"reason", information.gpu.reason}}},
          {"providers", std::move(candidates)},
          {"worker", std::move(worker)},
          {"variables", std::move(variables)},
          {"unknown_variables", std::move(unknown)},
          {"libfabric_warnings", std::move(fabric)}};
}

}  // namespace lath::cli
