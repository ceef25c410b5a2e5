#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "cli/command.hpp"
#include "datatypes/cursor.hpp"

namespace lath::cli {
namespace {

struct Options {
  std::string type;
  std::int64_t count = 1;
};

int segments(const Options& options) {
  const Layout layout = read_layout(read_type(options.type), options.count);
  // Streamed: a type of a billion segments needs no memory for them.
  constexpr std::size_t flush_at = 64 * 1024;
  fmt::memory_buffer text;
  for (Cursor cursor(layout); !cursor.at_end();) {
    const LayoutSegment segment = cursor.next();
    fmt::format_to(std::back_inserter(text), "{} {}\n", segment.offset, segment.length);
    if (text.size() >= flush_at) {
      print({text.data(), text.size()});
      text.clear();
    }
  }
  print({text.data(), text.size()});
  return success;
}

}  // namespace

void add_segments(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("segments",
                                     "Print the merged segments of a type: offset and length in bytes, "
                                     "in packed order");
  auto options = std::make_shared<Options>();
  command->add_option("type", options->type, "Type-spec, such as 'vector(3,2,4,int)', or pattern name")
      ->required();
  add_number(*command, "--count", options->count, 0, "Elements of the type");
  command->callback([options, &action] { action = [options] { return segments(*options); }; });
}

}  // namespace lath::cli
