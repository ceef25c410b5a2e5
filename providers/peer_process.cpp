#include "providers/peer_process.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

namespace lath::providers {

std::uint64_t node_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string node;
  if (!std::getline(file, node)) return 0;
  // Process ids, which go with it, mean something within one namespace only.
  std::array<char, 64> processes{};
  if (readlink("/proc/self/ns/pid", processes.data(), processes.size() - 1) > 0) node += processes.data();
  return std::hash<std::string>{}(node);
}

bool process_has_ended(std::int64_t process) noexcept {
  if (kill(static_cast<pid_t>(process), 0) != 0) return errno == ESRCH;
  // One that ended but was not waited for still has its number; its state tells.
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%lld/stat", static_cast<long long>(process));
  std::FILE* file = std::fopen(path.data(), "re");
  if (file == nullptr) return false;
  std::array<char, 512> text{};
  const std::size_t got = std::fread(text.data(), 1, text.size() - 1, file);
  std::fclose(file);
  text[got] = '\0';
  const char* state = std::strrchr(text.data(), ')');
  return state != nullptr && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
}

}  // namespace lath::providers
