#include "transport/schemes/cost_model.hpp"

#include <algorithm>

namespace lath::transport {
namespace {

double kernel_pass(double bytes, double blocks, const Costs& costs) {
  // Either side of the pass touches whole sectors.
  return (bytes + std::max(bytes, blocks * costs.device_sector)) / costs.device_bandwidth;
}

}  // namespace

StageTimes stage_times(Scheme scheme, const Summary& side, const Capabilities& capabilities, bool mixed,
                       std::int64_t chunk_bytes, const Costs& costs) noexcept {
  const auto bytes = static_cast<double>(chunk_bytes);
  const double share = side.bytes > 0 ? bytes / static_cast<double>(side.bytes) : 1.0;
  const double blocks = std::max(1.0, static_cast<double>(side.segments) * share);
  const bool on_device = side.memory == providers::MemoryKind::device;

  StageTimes times;
  times.processor = costs.chunk;
  times.wire = bytes / costs.wire_bandwidth;
  switch (scheme) {
    case Scheme::contiguous:
      break;
    case Scheme::gather:
      times.wire = std::max(times.wire, blocks * costs.list_entry);
      break;
    case Scheme::device_pack:
      times.processor += costs.launch;
      times.gpu = kernel_pass(bytes, blocks, costs);
      times.latency = costs.kernel_latency;
      break;
    case Scheme::host_pack:
      if (on_device) {
        times.processor += costs.launch;
        times.gpu = std::max(kernel_pass(bytes, blocks, costs), bytes / costs.bus_bandwidth);
        times.latency = costs.kernel_latency;
      } else {
        times.processor += bytes / costs.host_bandwidth + blocks * costs.host_block;
      }
      break;
    case Scheme::staged:
      if (mixed || (on_device && !capabilities.kernels)) {
        times.processor += blocks * costs.copy_call;
        times.gpu = bytes / costs.bus_bandwidth;
        times.latency = costs.kernel_latency;
      } else if (on_device) {
        times.processor += costs.launch + costs.copy_call;
        times.gpu = kernel_pass(bytes, blocks, costs) + bytes / costs.bus_bandwidth;
        times.latency = 2 * costs.kernel_latency;
      } else {
        times.processor += bytes / costs.host_bandwidth + blocks * costs.host_block;
      }
      break;
  }
  return times;
}

double message_time(const StageTimes& source, const StageTimes& sink, std::int64_t chunks) noexcept {
  // One wire, as fast as its slower end; the two processors and GPUs work at the same time.
  const double wire = std::max(source.wire, sink.wire);
  const double sum = source.processor + source.gpu + wire + sink.processor + sink.gpu;
  const double slowest = std::max({source.processor, source.gpu, wire, sink.processor, sink.gpu});
  return static_cast<double>(std::max<std::int64_t>(chunks, 1) - 1) * slowest + sum + source.latency +
         sink.latency;
}

}  // namespace lath::transport
