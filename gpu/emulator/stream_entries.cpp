#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {
namespace {

using emulator::call;
using emulator::current_device;
using emulator::Entry;
using emulator::Marker;
using emulator::process;

// Finds the stream in the current context, then runs `body` on it.
template <class Body>
CUresult with_stream(Entry entry, CUstream handle, const Body& body) {
  return call(entry, [&] {
    auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const auto stream = process().stream(handle, *device);
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(stream);
  });
}

// The marker that an event stands for now; null where it was never recorded.
CUresult latest(CUevent event, std::shared_ptr<Marker>& out) {
  const std::lock_guard lock(process().mutex);
  const auto found = process().events.find(event);
  if (found == process().events.end()) return CUDA_ERROR_INVALID_HANDLE;
  out = found->second->latest;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return call(Entry::cuStreamCreate, [&] {
    const auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING_FLAG) return CUDA_ERROR_INVALID_VALUE;
    *stream = process().add_stream(device->ordinal, flags != CU_STREAM_NON_BLOCKING_FLAG);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return call(Entry::cuStreamDestroy_v2, [&] { return process().close_stream(stream); });
}

CUresult cuStreamQuery(CUstream handle) {
  return with_stream(Entry::cuStreamQuery, handle,
                     [](const auto& stream) { return stream->idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return with_stream(Entry::cuStreamSynchronize, handle, [](const auto& stream) {
    stream->wait_for(stream->tail());
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  return with_stream(Entry::cuStreamWaitEvent, handle, [&](const auto& stream) {
    std::shared_ptr<Marker> marker;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const auto code = latest(event, marker); code != CUDA_SUCCESS || marker == nullptr) return code;
    process().submit(*stream, [marker] { marker->wait(); });
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return with_stream(Entry::cuLaunchHostFunc, handle, [&](const auto& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    process().submit(*stream, [function, data] { function(data); });
    return CUDA_SUCCESS;
  });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call(Entry::cuEventCreate, [&] {
    const auto* const device = current_device();
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (event == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_unique<emulator::EventState>();
    made->device = device->ordinal;
    *event = reinterpret_cast<CUevent>(made.get());
    const std::lock_guard lock(process().mutex);
    process().events.emplace(*event, std::move(made));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return call(Entry::cuEventDestroy_v2, [&] {
    const std::lock_guard lock(process().mutex);
    return process().events.erase(event) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  return with_stream(Entry::cuEventRecord, handle, [&](const auto& stream) {
    auto marker = std::make_shared<Marker>();
    {
      const std::lock_guard lock(process().mutex);
      const auto found = process().events.find(event);
      if (found == process().events.end() || found->second->device != stream->device())
        return CUDA_ERROR_INVALID_HANDLE;
      found->second->latest = marker;
    }
    process().submit(*stream, [marker] { marker->pass(); });
    return CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent event) {
  return call(Entry::cuEventQuery, [&] {
    std::shared_ptr<Marker> marker;
    if (const auto code = latest(event, marker); code != CUDA_SUCCESS || marker == nullptr) return code;
    return marker->passed() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return call(Entry::cuEventSynchronize, [&] {
    std::shared_ptr<Marker> marker;
    if (const auto code = latest(event, marker); code != CUDA_SUCCESS || marker == nullptr) return code;
    marker->wait();
    return CUDA_SUCCESS;
  });
}

}  // namespace lath::gpu
