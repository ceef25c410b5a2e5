#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "gpu/emulator/calls.hpp"
#include "gpu/emulator/process.hpp"

namespace lath::gpu {
namespace {

using emulator::Allocated;
using emulator::call;
using emulator::current_device;
using emulator::Entry;
using emulator::process;

constexpr std::uint64_t handle_mark = 0x3149504348544c;

// What a CUipcMemHandle holds: whose file, and which one, so that a handle outlived by its memory is refused.
struct IpcContent {
  std::uint64_t mark;
  std::uint64_t file_number;
  std::uint64_t bytes;
  std::int32_t process_id;
  std::int32_t file;
};
static_assert(sizeof(IpcContent) <= sizeof(CUipcMemHandle));

std::uint64_t number_of(int file) {
  struct stat about {};
  return fstat(file, &about) == 0 ? static_cast<std::uint64_t>(about.st_ino) : 0;
}

CUresult open_content(const IpcContent& content, int& file) {
  const auto path = "/proc/" + std::to_string(content.process_id) + "/fd/" + std::to_string(content.file);
  file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return CUDA_ERROR_MAP_FAILED;
  if (number_of(file) == content.file_number) return CUDA_SUCCESS;
  close(file);
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  return call(Entry::cuIpcGetMemHandle, [&] {
    const auto found = process().memory.find(pointer);
    if (handle == nullptr || !found || found->how != Allocated::device) return CUDA_ERROR_INVALID_VALUE;
    const IpcContent content{handle_mark, number_of(found->region.file), found->bytes,
                             static_cast<std::int32_t>(getpid()), found->region.file};
    *handle = {};
    std::memcpy(handle->reserved, &content, sizeof content);
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned flags) {
  return call(Entry::cuIpcOpenMemHandle_v2, [&] {
    const auto* const device = current_device();
    IpcContent content{};
    std::memcpy(&content, handle.reserved, sizeof content);
    if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (pointer == nullptr || flags != CU_IPC_MEM_LAZY_PEER_ACCESS_FLAG || content.mark != handle_mark)
      return CUDA_ERROR_INVALID_VALUE;
    // The process that exported the memory cannot open it.
    if (content.process_id == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
    int file = -1;
    if (const auto code = open_content(content, file); code != CUDA_SUCCESS) return code;
    return process().memory.import(file, content.file_number, content.bytes, device->ordinal, *pointer);
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  return call(Entry::cuIpcCloseMemHandle, [&] {
    if (const auto found = process().memory.find(pointer)) process().synchronize(found->device);
    return process().memory.close_import(pointer);
  });
}

CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr pointer, std::size_t bytes,
                                       CUmemRangeHandleType type, unsigned long long flags) {
  return call(Entry::cuMemGetHandleForAddressRange, [&] {
    const auto page = emulator::page_bytes();
    const auto found = process().memory.find_pages(pointer);
    if (handle == nullptr || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || flags > 1 || !found ||
        found->how != Allocated::device || bytes == 0 || bytes % page != 0 || pointer % page != 0)
      return CUDA_ERROR_INVALID_VALUE;
    // The file's first byte must be the range's, and a memfd can only be handed out as a whole.
    if (pointer != found->region.begin || bytes > found->region.bytes) return CUDA_ERROR_INVALID_VALUE;
    const int file = fcntl(found->region.file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
    std::memcpy(handle, &file, sizeof file);
    return CUDA_SUCCESS;
  });
}

}  // namespace lath::gpu
