#include "benchmarks/exchange.hpp"

#include <chrono>

#include "benchmarks/lath_call.hpp"
#include "datatypes/type_spec.hpp"

namespace lath::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

void wait(lath_request& request, const char* doing) {
  lath_call(lath_wait(&request, nullptr), doing);
}

}  // namespace

Ends::Ends(const Datatype& type, std::int64_t elements, Memory memory)
    : count(elements),
      outgoing(Layout::of(type, elements), memory),
      incoming(Layout::of(type, elements), memory) {
  lath_call(lath_type_parse(to_text(type).c_str(), handle.receive()), "making the type");
}

lath_request Exchange::receive() {
  lath_request request = nullptr;
  lath_call(lath_receive(pair_.worker(), ends_.incoming.address(), ends_.count, ends_.handle.get(),
                         pair_.other(), 0, tag, &request),
            "posting a receive");
  return request;
}

lath_request Exchange::send() {
  lath_request request = nullptr;
  lath_call(
      lath_send(pair_.peer(), ends_.outgoing.address(), ends_.count, ends_.handle.get(), 0, tag, &request),
      "sending");
  return request;
}

std::vector<double> Exchange::run(std::int64_t iterations) {
  if (pair_.rank() == 0) return ping(iterations);
  pong(iterations);
  return {};
}

std::vector<double> Exchange::ping(std::int64_t iterations) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(iterations));
  auto before = Clock::now();
  for (std::int64_t i = 0; i < iterations; ++i) {
    lath_request incoming = receive();
    lath_request outgoing = send();
    wait(incoming, "receiving");
    wait(outgoing, "sending");
    const auto after = Clock::now();
    out.push_back(std::chrono::duration<double, std::micro>(after - before).count() / 2.0);
    before = after;
  }
  return out;
}

void Exchange::pong(std::int64_t iterations) {
  lath_request incoming = receive();
  for (std::int64_t i = 0; i < iterations; ++i) {
    wait(incoming, "receiving");
    // Posted before the answer leaves, so that the next message finds it.
    if (i + 1 < iterations) incoming = receive();
    lath_request outgoing = send();
    wait(outgoing, "sending");
  }
}

}  // namespace lath::benchmarks
