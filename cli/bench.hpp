#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "transport/job.hpp"

/// The subcommands of `lath bench`. `arguments` is the command line, with which the processes of the
/// benchmark are started.
namespace lath::cli {

void add_bench_pingpong(CLI::App& bench, Action& action, const std::vector<std::string>& arguments);
/// Compiled only with libfabric.
void add_bench_provider(CLI::App& bench, Action& action, const std::vector<std::string>& arguments);

/// Runs `body` in each of two processes: those of the launcher, or two that are started here. Returns the
/// exit status.
int in_job_of_two(const std::vector<std::string>& arguments, const std::function<int(transport::Job&)>& body);

/// To a file, or "-" for standard output. Throws Error(system) where it cannot be written.
void write_json(const std::string& where, const nlohmann::ordered_json& report);

}  // namespace lath::cli
