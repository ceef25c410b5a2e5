#include <chrono>
#include <string_view>
#include <thread>

#include "apps/wave/exchange.hpp"
#include "benchmarks/lath_call.hpp"

namespace lath::wave {
namespace {

using Clock = std::chrono::steady_clock;

using benchmarks::PersistentRequest;

void check(lath_status status, std::string_view doing) {
  benchmarks::lath_call<ExchangeFailure>(status, doing);
}

class LathExchange : public Exchange {
 public:
  LathExchange(Ranks& ranks, const Block& block, Order order, const std::vector<double*>& fields);

  void exchange(std::size_t field) override {
    exchange_faces(field, {Face::x_low, Face::x_high}, true);
    exchange_faces(field, {Face::y_low, Face::y_high}, true);
  }
  std::vector<FaceReport> report() override;
  std::string carrier() const override { return lath_worker_provider(worker_.get()); }

 private:
  /// Of one field: the requests of one face.
  struct Requests {
    PersistentRequest send;
    PersistentRequest receive;
  };
  struct Side {
    HaloFace halo;
    benchmarks::Type type;
    std::vector<Requests> requests;  ///< by field; empty where there is no neighbour
    double seconds = 0.0;
  };

  Side& side(Face face) { return sides_[static_cast<std::size_t>(face)]; }
  void make_requests(Face face, lath_peer peer, int neighbour, const std::vector<double*>& fields);
  void exchange_faces(std::size_t field, std::initializer_list<Face> which, bool timed);
  static bool ended(PersistentRequest& request, const char* doing);
  std::uint64_t pack_copies() const;

  Block block_;
  benchmarks::Worker worker_;
  std::array<Side, 4> sides_;
};

LathExchange::LathExchange(Ranks& ranks, const Block& block, Order order, const std::vector<double*>& fields)
    : block_(block) {
  check(lath_worker_create(nullptr, LATH_THREAD_SINGLE, worker_.receive()), "opening the network");
  const std::vector<std::vector<std::byte>> addresses =
      ranks.allgather(benchmarks::worker_address<ExchangeFailure>(worker_.get()));
  benchmarks::Type real;
  check(lath_type_parse("double", real.receive()), "making the type double");
  for (Face face : faces) {
    Side& at = side(face);
    at.halo = halo_face(face, order, block.extents());
    const HaloType& halo = at.halo.type;
    check(lath_type_vector(halo.count, halo.block_length, halo.stride, real.get(), at.type.receive()),
          "making the type " + halo.text());
    const std::optional<int> neighbour = block.neighbour(face);
    if (!neighbour) continue;
    const std::vector<std::byte>& theirs = addresses[static_cast<std::size_t>(*neighbour)];
    lath_peer peer = nullptr;
    check(lath_connect(worker_.get(), theirs.data(), theirs.size(), *neighbour, &peer),
          "connecting to rank " + std::to_string(*neighbour));
    make_requests(face, peer, *neighbour, fields);
  }
  ranks.barrier();
}

/// The tag names the field and the face by which the receiver knows the message.
void LathExchange::make_requests(Face face, lath_peer peer, int neighbour,
                                 const std::vector<double*>& fields) {
  Side& at = side(face);
  const auto tag = [](std::size_t field, Face arriving) {
    return static_cast<std::int64_t>(field * faces.size() + static_cast<std::size_t>(arriving));
  };
  at.requests.resize(fields.size());
  for (std::size_t field = 0; field < fields.size(); ++field) {
    check(lath_send_init(peer, fields[field] + at.halo.send_element, 1, at.type.get(), 0,
                         tag(field, opposite(face)), at.requests[field].send.receive()),
          std::string("preparing to send face ") + name(face));
    check(lath_receive_init(worker_.get(), fields[field] + at.halo.receive_element, 1, at.type.get(),
                            neighbour, 0, tag(field, face), at.requests[field].receive.receive()),
          std::string("preparing to receive face ") + name(face));
  }
}

bool LathExchange::ended(PersistentRequest& request, const char* doing) {
  lath_request handle = request.get();
  int flag = 0;
  check(lath_test(&handle, &flag, nullptr), doing);
  return flag != 0;
}

void LathExchange::exchange_faces(std::size_t field, std::initializer_list<Face> which, bool timed) {
  struct Pending {
    Face face;
    bool sending;
    bool receiving;
  };
  std::array<Pending, faces.size()> pending{};
  std::size_t count = 0;
  for (Face face : which) {
    if (!side(face).requests.empty()) pending[count++] = {face, true, true};
  }
  const Clock::time_point begin = Clock::now();
  for (std::size_t p = 0; p < count; ++p) {
    check(lath_start(side(pending[p].face).requests[field].receive.get()), "starting to receive");
  }
  for (std::size_t p = 0; p < count; ++p) {
    check(lath_start(side(pending[p].face).requests[field].send.get()), "starting to send");
  }
  constexpr int patience = 200;  // polls before the processor is offered to ranks that share it
  for (int polls = 0; count > 0; ++polls) {
    for (std::size_t p = 0; p < count;) {
      Side& at = side(pending[p].face);
      if (pending[p].sending) pending[p].sending = !ended(at.requests[field].send, "sending a face");
      if (pending[p].receiving) pending[p].receiving = !ended(at.requests[field].receive, "receiving a face");
      if (pending[p].sending || pending[p].receiving) {
        ++p;
        continue;
      }
      if (timed) at.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
      pending[p] = pending[--count];
    }
    if (polls > patience) std::this_thread::yield();
  }
}

std::uint64_t LathExchange::pack_copies() const {
  return benchmarks::worker_counter<ExchangeFailure>(worker_.get(), "pack_copies");
}

/// Exchanges the faces once more one after the other, so that the worker's counters tell them apart. Both
/// ends of a face must take their turn together: that of even coordinates' high faces comes first.
std::vector<FaceReport> LathExchange::report() {
  std::vector<FaceReport> reports;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    for (std::int64_t turn = 0; turn < 2; ++turn) {
      const bool high = block_.coordinate[direction] % 2 == turn;
      const Face face = faces[2 * direction + (high ? 1 : 0)];
      Side& at = side(face);
      if (at.requests.empty()) continue;
      const std::uint64_t before = pack_copies();
      exchange_faces(0, {face}, false);
      FaceReport report;
      report.face = face;
      report.type = at.halo.type.text();
      report.bytes = at.halo.type.bytes();
      std::size_t filled = 0;
      check(lath_type_segments(at.type.get(), 1, 0, nullptr, 0, &filled, &report.segments),
            "counting segments");
      report.scheme = std::string(lath_request_scheme(at.requests[0].send.get())) + "/" +
                      lath_request_scheme(at.requests[0].receive.get());
      report.copies = static_cast<std::int64_t>(pack_copies() - before);
      report.seconds = at.seconds;
      reports.push_back(report);
    }
  }
  return reports;
}

}  // namespace

std::unique_ptr<Exchange> lath_exchange(Ranks& ranks, const Block& block, Order order,
                                        const std::vector<double*>& fields) {
  return std::make_unique<LathExchange>(ranks, block, order, fields);
}

}  // namespace lath::wave
