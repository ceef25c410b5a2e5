#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "tests/gpu/gpu_test.hpp"

namespace lath::gpu {
namespace {

using EmulatorIpc = EmulatorTest;

// Runs ipc_peer with a handle and the byte that it shall find; it fills the memory with that byte plus one.
int run_peer(const CUipcMemHandle& handle, int byte) {
  std::string text;
  for (const char c : handle.reserved) {
    static constexpr char digits[] = "0123456789abcdef";
    text += {digits[static_cast<unsigned char>(c) / 16], digits[static_cast<unsigned char>(c) % 16]};
  }
  std::string path = LATH_IPC_PEER;
  std::string value = std::to_string(byte);
  std::array<char*, 4> arguments{path.data(), text.data(), value.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, path.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return -1;
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(EmulatorIpc, AnotherProcessReadsAndWritesTheMemory) {
  const DeviceBuffer buffer(0, 10000);
  upload(buffer.data(), std::vector<unsigned char>(10000, 41));
  CUipcMemHandle handle{};
  ASSERT_EQ(driver()->cuIpcGetMemHandle(&handle, pointer(buffer.data()) + 100), CUDA_SUCCESS);
  EXPECT_EQ(run_peer(handle, 41), 0);
  EXPECT_EQ(download(buffer.data(), 10000), std::vector<unsigned char>(10000, 42));
}

TEST_F(EmulatorIpc, AHandleThatOutlivedItsMemoryIsRefused) {
  CUipcMemHandle handle{};
  {
    const DeviceBuffer buffer(0, 10000);
    ASSERT_EQ(driver()->cuIpcGetMemHandle(&handle, pointer(buffer.data())), CUDA_SUCCESS);
  }
  const DeviceBuffer reused(0, 10000);
  EXPECT_EQ(run_peer(handle, 0), 3) << "the peer's code for a handle that it could not open";
}

TEST_F(EmulatorIpc, TheExportingProcessCannotOpenItsOwn) {
  const DeviceBuffer buffer(0, 100);
  CUipcMemHandle handle{};
  ASSERT_EQ(driver()->cuIpcGetMemHandle(&handle, pointer(buffer.data())), CUDA_SUCCESS);
  CUdeviceptr opened = 0;
  EXPECT_EQ(driver()->cuIpcOpenMemHandle_v2(&opened, handle, CU_IPC_MEM_LAZY_PEER_ACCESS_FLAG),
            CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(driver()->cuIpcOpenMemHandle_v2(&opened, CUipcMemHandle{}, CU_IPC_MEM_LAZY_PEER_ACCESS_FLAG),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver()->cuIpcCloseMemHandle(pointer(buffer.data())), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace lath::gpu
