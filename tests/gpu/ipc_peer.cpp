// The other process of emulator_ipc_test: opens a memory handle twice, checks what it holds, writes it,
// closes. Exit status: 0 all as expected, 1 a check failed, 2 no GPU, 3 the handle could not be opened.
#include <cstdio>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/stream.hpp"

using namespace lath::gpu;

namespace {

CUipcMemHandle read_handle(const std::string& text) {
  CUipcMemHandle out{};
  for (std::size_t i = 0; i < sizeof out.reserved && 2 * i + 1 < text.size(); ++i)
    out.reserved[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return out;
}

bool check(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "ipc_peer: %s\n", what);
  return holds;
}

bool exchange(CUdeviceptr memory, unsigned char expected) {
  const auto about = memory_info(reinterpret_cast<const void*>(memory));
  std::vector<unsigned char> bytes(about.bytes);
  bool right = check(about.kind == MemoryKind::device && about.bytes != 0, "opened memory is device memory");
  right &= check(copy_and_wait(bytes.data(), reinterpret_cast<const void*>(memory), bytes.size()).is_done(),
                 "read");
  right &= check(bytes == std::vector<unsigned char>(bytes.size(), expected), "the exporter's bytes");
  bytes.assign(bytes.size(), static_cast<unsigned char>(expected + 1));
  right &=
      check(copy_and_wait(reinterpret_cast<void*>(memory), bytes.data(), bytes.size()).is_done(), "write");
  return right;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3 || driver() == nullptr) return 2;
  const ContextGuard guard(0);
  const auto handle = read_handle(arguments[1]);
  CUdeviceptr memory = 0;
  CUdeviceptr again = 0;
  if (driver()->cuIpcOpenMemHandle_v2(&memory, handle, CU_IPC_MEM_LAZY_PEER_ACCESS_FLAG) != CUDA_SUCCESS)
    return 3;
  bool right = check(
      driver()->cuIpcOpenMemHandle_v2(&again, handle, CU_IPC_MEM_LAZY_PEER_ACCESS_FLAG) == CUDA_SUCCESS &&
          again == memory,
      "a second opening gives the same address");
  right &= check(driver()->cuIpcCloseMemHandle(again) == CUDA_SUCCESS, "first close");
  right &= exchange(memory, static_cast<unsigned char>(std::stoi(arguments[2])));
  right &= check(driver()->cuIpcCloseMemHandle(memory) == CUDA_SUCCESS, "last close");
  right &= check(memory_info(reinterpret_cast<const void*>(memory)).kind == MemoryKind::host,
                 "closed memory is gone");
  return right ? 0 : 1;
}
