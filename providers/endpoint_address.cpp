#include "providers/endpoint_address.hpp"

#include <array>
#include <cstring>

#include "base/error.hpp"

namespace lath::providers {
namespace {

constexpr std::array<char, 4> magic = {'L', 'E', 'A', '1'};

template <class Value>
void append(std::vector<std::byte>& bytes, const Value& value) {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class Value>
  Value read(const char* field) {
    Value value;
    std::memcpy(&value, take(sizeof value, field).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take(std::size_t length, const char* field) {
    if (length > bytes_.size())
      throw Error(Code::invalid_argument, std::string("the address ends within its ") + field);
    const auto taken = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return taken;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> encode(const EndpointAddress& address) {
  std::vector<std::byte> bytes;
  append(bytes, magic);
  append(bytes, address.node);
  append(bytes, address.process);
  append(bytes, static_cast<std::uint16_t>(address.provider.size()));
  append(bytes, static_cast<std::uint16_t>(address.endpoint.size()));
  for (const char letter : address.provider) bytes.push_back(static_cast<std::byte>(letter));
  bytes.insert(bytes.end(), address.endpoint.begin(), address.endpoint.end());
  return bytes;
}

EndpointAddress decode(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  if (reader.read<std::array<char, 4>>("first bytes") != magic)
    throw Error(Code::invalid_argument, "the address is not one of an endpoint of this version");
  EndpointAddress address;
  address.node = reader.read<std::uint64_t>("node");
  address.process = reader.read<std::int64_t>("process");
  const auto provider_length = reader.read<std::uint16_t>("length of the provider's name");
  const auto endpoint_length = reader.read<std::uint16_t>("length of the endpoint");
  for (const std::byte letter : reader.take(provider_length, "provider's name"))
    address.provider.push_back(static_cast<char>(letter));
  const auto endpoint = reader.take(endpoint_length, "endpoint");
  address.endpoint.assign(endpoint.begin(), endpoint.end());
  if (reader.left() != 0)
    throw Error(Code::invalid_argument,
                "the address has " + std::to_string(reader.left()) + " bytes after its end");
  return address;
}

}  // namespace lath::providers
