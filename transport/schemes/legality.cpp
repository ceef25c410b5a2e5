#include "transport/schemes/legality.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lath::transport {
namespace {

bool on_device(const Summary& side) {
  return side.memory == providers::MemoryKind::device;
}

std::string unreachable_reason(const providers::Limits& limits) {
  return fmt::format("the provider cannot reach device memory: {}", limits.device_memory_reason.empty()
                                                                        ? "it does not say why"
                                                                        : limits.device_memory_reason);
}

std::string gather_reason(const Summary& side, std::int64_t list) {
  if (side.segments <= list)
    return fmt::format("{} segment{} fit{} one operation's list of {}", side.segments,
                       side.segments == 1 ? "" : "s", side.segments == 1 ? "s" : "", list);
  std::string less = fmt::format("list length {} is less than {} segments", list, side.segments);
  if (list < 2) return less;
  if (side.uniform_block == 0) return less + ", and their lengths differ";
  return fmt::format("{}; uniform blocks of {} bytes go in {} operations", less, side.uniform_block,
                     (side.segments - 1) / list + 1);
}

}  // namespace

std::string legality_reason(Scheme scheme, const Summary& side, Direction direction,
                            const providers::Limits& limits, const Capabilities& capabilities, bool mixed) {
  const std::string_view moved = direction == Direction::send ? "packs into" : "unpacks from";
  const std::string_view no_kernels =
      capabilities.gpu ? "pack kernels are not loaded" : "no GPU is in use by this process";
  if (mixed && scheme != Scheme::staged) return "segments lie in host and in device memory";
  switch (scheme) {
    case Scheme::contiguous:
      if (side.segments > 1) return fmt::format("{} segments are not one block", side.segments);
      if (on_device(side) && !limits.device_memory) return unreachable_reason(limits);
      return "the data is one block";
    case Scheme::gather:
      if (on_device(side) && !limits.device_memory) return unreachable_reason(limits);
      return gather_reason(side, static_cast<std::int64_t>(list_length(limits, direction)));
    case Scheme::device_pack:
      if (!on_device(side)) return "the data is in host memory";
      if (!capabilities.kernels) return std::string(no_kernels);
      if (!limits.device_memory) return unreachable_reason(limits);
      return fmt::format("a kernel {} device memory", moved);
    case Scheme::host_pack:
      if (!on_device(side)) return fmt::format("the processor {} host memory", moved);
      if (!capabilities.kernels) return std::string(no_kernels);
      return fmt::format("a kernel {} pinned host memory", moved);
    case Scheme::staged:
      break;
  }
  if (mixed) return "copies segment by segment, as the segments' memory differs";
  if (on_device(side) && !capabilities.kernels) return "copies segment by segment, as there are no kernels";
  return "plain copies through host memory always work";
}

std::size_t list_length(const providers::Limits& limits, Direction direction) noexcept {
  const std::size_t granted = direction == Direction::send ? limits.send_list : limits.receive_list;
  return std::clamp<std::size_t>(granted, 1, max_list_length);
}

bool is_legal(Scheme scheme, const Summary& side, Direction direction, const providers::Limits& limits,
              const Capabilities& capabilities, bool mixed) noexcept {
  if (scheme == Scheme::staged) return true;
  if (mixed) return false;
  const bool reachable = !on_device(side) || limits.device_memory;
  const auto list = static_cast<std::int64_t>(list_length(limits, direction));
  switch (scheme) {
    case Scheme::contiguous:
      return side.segments <= 1 && reachable;
    case Scheme::gather:
      return reachable && (side.segments <= list || (side.uniform_block > 0 && list >= 2));
    case Scheme::device_pack:
      return on_device(side) && capabilities.kernels && limits.device_memory;
    case Scheme::host_pack:
      return !on_device(side) || capabilities.kernels;
    case Scheme::staged:
      break;
  }
  return false;
}

}  // namespace lath::transport
