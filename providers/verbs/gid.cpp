#include "providers/verbs/gid.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace lath::providers::verbs {
namespace {

bool filled(const GidEntry& entry) {
  return std::any_of(std::begin(entry.gid.raw), std::end(entry.gid.raw),
                     [](std::uint8_t byte) { return byte != 0; });
}

int scope_rank(const ibv_gid& gid) {
  constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(mapped.begin(), mapped.end(), std::begin(gid.raw))) return 0;
  const bool link_local = gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
  return link_local ? 2 : 1;
}

auto rank(const GidEntry& entry) {
  return std::tuple(!entry.routable, scope_rank(entry.gid), entry.index);
}

}  // namespace

std::optional<GidEntry> choose_gid(std::span<const GidEntry> table) {
  std::optional<GidEntry> best;
  for (const GidEntry& entry : table)
    if (filled(entry) && (!best || rank(entry) < rank(*best))) best = entry;
  return best;
}

}  // namespace lath::providers::verbs
