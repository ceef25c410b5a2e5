#include "cli/fabric_environment.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <system_error>

namespace lath::cli {
namespace {

enum class Harm {
  off,    ///< 0, false, no, off
  on,     ///< 1, true, yes, on
  word,   ///< that word
  above,  ///< a number above that one
  duel    ///< that word, while Lath keeps registrations
};

struct Row {
  const char* variable;
  Harm harm;
  const char* word;  ///< of word and duel
  std::uint64_t number;
  const char* reason;
};

// Facts of fi_cxi(7) and fi_mr(3).
constexpr const char* maps_anew =
    "libfabric's registration cache is off: cxi then maps the memory of every operation anew, as Lath hands "
    "it no descriptors; unset it";
constexpr Row table[] = {
    {"FI_MR_CACHE_MAX_COUNT", Harm::off, "", 0, maps_anew},
    {"FI_MR_CACHE_MAX_SIZE", Harm::off, "", 0, maps_anew},
    {"FI_MR_CACHE_MONITOR", Harm::word, "disabled", 0, maps_anew},
    {"FI_MR_CACHE_MONITOR", Harm::duel, "memhooks", 0,
     "libfabric's cache and Lath's would both rewrite munmap() and its like in this process, and the later "
     "one "
     "may hide from the other what is unmapped; take kdreg2 or userfaultfd, or set "
     "LATH_KEEP_REGISTRATIONS=0"},
    {"FI_MR_CUDA_CACHE_MONITOR_ENABLED", Harm::off, "", 0,
     "device memory is not kept in libfabric's registration cache: cxi maps it anew for every operation; "
     "unset "
     "it"},
    {"FI_HMEM_CUDA_USE_DMABUF", Harm::off, "", 0,
     "cxi then needs the GPU driver's older peer-to-peer interface to reach device memory; unset it"},
    {"FI_CXI_OPTIMIZED_MRS", Harm::off, "", 0,
     "writes into regions of key 0 to 99, which Lath chooses for what peers reach, lose their low-overhead "
     "packets; unset it in all processes of the job"},
    {"FI_CXI_RX_MATCH_MODE", Harm::word, "software", 0,
     "the processor matches every message, inside calls; take hybrid or hardware"},
    {"FI_CXI_DISABLE_CUDA_SYNC_MEMOPS", Harm::on, "", 0,
     "a copy to device memory that has returned may still be under way when the NIC reads there; unset it"},
    {"FI_CXI_FORCE_ODP", Harm::on, "", 0, "host memory is paged in on demand, a mode for tests; unset it"},
    {"FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD", Harm::above, "", 4096,
     "the processor itself reads device memory up to that length, far slower than the NIC; the default is "
     "4096"},
    {"FI_LOG_LEVEL", Harm::word, "debug", 0, "libfabric prints from the path of every message; unset it"},
    {"FI_LOG_LEVEL", Harm::word, "trace", 0, "libfabric prints from the path of every message; unset it"},
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

bool is_any(std::string_view value, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), value) != words.end();
}

bool exceeds(const std::string& value, std::uint64_t number) {
  std::uint64_t given = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, given);
  return read.ec == std::errc() && read.ptr == end && given > number;
}

bool hurts(const Row& row, const std::string& value, bool keeps_registrations) {
  switch (row.harm) {
    case Harm::off:
      return is_any(value, {"0", "false", "no", "off"});
    case Harm::on:
      return is_any(value, {"1", "true", "yes", "on"});
    case Harm::word:
      return value == row.word;
    case Harm::above:
      return exceeds(value, row.number);
    case Harm::duel:
      return keeps_registrations && value == row.word;
  }
  return false;
}

}  // namespace

std::vector<FabricWarning> fabric_warnings(const std::function<const char*(const char*)>& get,
                                           bool keeps_registrations) {
  std::vector<FabricWarning> warnings;
  for (const Row& row : table) {
    const char* const value = get(row.variable);
    if (value != nullptr && hurts(row, lower_case(value), keeps_registrations))
      warnings.push_back({row.variable, value, row.reason});
  }
  return warnings;
}

}  // namespace lath::cli
