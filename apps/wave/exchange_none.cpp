#include "apps/wave/exchange.hpp"

namespace lath::wave {
namespace {

class NoExchange : public Exchange {
 public:
  void exchange(std::size_t) override {}
  std::vector<FaceReport> report() override { return {}; }
  std::string carrier() const override { return "nothing"; }
};

}  // namespace

std::unique_ptr<Exchange> no_exchange() {
  return std::make_unique<NoExchange>();
}

}  // namespace lath::wave
