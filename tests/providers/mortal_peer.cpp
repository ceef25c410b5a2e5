// The other process of dead_peer_test: opens a provider, exchanges messages with the one that started it, and
// then neither polls nor ends.
//   mortal_peer PROVIDER SENDS ADDRESS DESCRIPTOR
// ADDRESS is the other's, in hexadecimal digits. To the file descriptor it writes the length of its own
// address and the address, and a byte when all messages have gone through.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "providers/registry.hpp"

using namespace lath;
using namespace lath::providers;

namespace {

std::vector<std::byte> from_hexadecimal(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

struct Seen final : Events {
  std::size_t messages = 0, completions = 0;
  void on_message(std::span<const std::byte>) override { ++messages; }
  void on_completion(Context, std::size_t, const Error*) override { ++completions; }
  void on_unreachable(PeerId, const Error&) override {}
};

bool tell(int descriptor, const void* bytes, std::size_t length) {
  return write(descriptor, bytes, length) == static_cast<ssize_t>(length);
}

int run(const std::string& name, std::size_t sends, const std::vector<std::byte>& other, int descriptor) {
  const auto provider = open(name);
  const std::vector<std::byte> own = provider->address();
  const std::size_t length = own.size();
  if (!tell(descriptor, &length, sizeof length) || !tell(descriptor, own.data(), length)) return 3;
  const PeerId parent = provider->connect(other);
  std::vector<std::uint64_t> values(sends);
  std::unique_ptr<Registration> registration;
  std::unique_ptr<Error> why;
  if (provider->limits().local_registration && sends > 0)
    registration = provider->register_memory(values.data(), sends * 8, MemoryKind::host, true, false, why);
  Seen seen;
  for (std::size_t i = 0; i < sends; ++i) {
    values[i] = i;
    const Segment segment{&values[i], 8, registration.get()};
    while (!provider->send(parent, {&segment, 1}, &values[i], 0).is_done()) (void)provider->poll(seen);
  }
  while (seen.completions < sends || seen.messages == 0) (void)provider->poll(seen);
  if (!tell(descriptor, "r", 1)) return 3;
  for (;;) pause();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  try {
    return run(arguments[1], std::stoul(arguments[2]), from_hexadecimal(arguments[3]),
               std::stoi(arguments[4]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mortal_peer: %s\n", error.what());
    return 1;
  }
}
