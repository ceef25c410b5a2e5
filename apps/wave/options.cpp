#include "apps/wave/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/decimal.hpp"

namespace lath::wave {
namespace {

/// An option whose words stand for the values of an enumeration; others are refused with the list of words.
template <class Value>
void add_choice(CLI::App& app, const char* name, Value& value, const std::map<std::string, Value>& words,
                const char* meaning) {
  std::vector<std::string> known;
  known.reserve(words.size());
  for (const auto& [word, meant] : words) known.push_back(word);
  app.add_option_function<std::string>(
         name, [&value, words](const std::string& word) { value = words.at(word); }, meaning)
      ->check(CLI::IsMember(known));
}

/// Decimal: the parser's own reading of numbers takes 010 for octal.
int read_ranks(const std::string& text) {
  constexpr int most = 1024;
  const std::optional<std::int64_t> ranks = decimal(text);
  if (!ranks || *ranks < 1 || *ranks > most)
    throw CLI::ValidationError("--ranks", fmt::format("'{}' is not a whole number from 1 to {}", text, most));
  return static_cast<int>(*ranks);
}

}  // namespace

CommandLine read_command_line(int argc, char** argv) {
  CommandLine result;
  Options& options = result.options;
  CLI::App app{"Elastic waves in three dimensions, with ghost faces exchanged as strided messages.",
               "lath-wave"};
  app.add_option("file", options.file, "the problem (TOML, see docs/wave.md)");
  add_choice<Transport>(app, "--exchange", options.exchange,
                        {{"lath", Transport::lath}, {"mpi", Transport::mpi}},
                        "what carries the ghost faces: lath (default) or mpi");
  add_choice<Memory>(app, "--memory", options.memory, {{"host", Memory::host}, {"device", Memory::device}},
                     "where the fields are: host (default) or device");
  add_choice<Order>(app, "--order", options.order, {{"c", Order::c}, {"fortran", Order::fortran}},
                    "arrays as (i,j,k,c): c (default), or (c,i,j,k): fortran");
  app.add_option("--scheme", options.scheme, "the scheme that Lath shall use where it is legal (LATH_SCHEME)")
      ->check(CLI::IsMember({"auto", "contiguous", "gather", "device_pack", "host_pack", "staged"}));
  app.add_option_function<std::string>(
         "--ranks", [&options](const std::string& text) { options.ranks = read_ranks(text); },
         "start this many processes here, without an mpiexec")
      ->type_name("NUMBER");
  app.add_flag("--verify", options.verify, "compute again on one rank in host memory, and compare");
  app.add_flag("--order-test", options.order_test,
               "no file: measure the order of accuracy on an exact solution");
  app.add_flag("--no-files", options.quiet_files, "write neither receivers nor picture");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    result.exit_status = app.exit(error) == 0 ? 0 : 2;
    return result;
  }
  if (options.file.empty() != options.order_test) {
    std::cerr << "lath-wave: give either a FILE or --order-test (--help tells more)\n";
    result.exit_status = 2;
  }
  if (options.exchange == Transport::mpi && !options.scheme.empty()) {
    std::cerr << "lath-wave: --scheme is for --exchange lath\n";
    result.exit_status = 2;
  }
  return result;
}

}  // namespace lath::wave
