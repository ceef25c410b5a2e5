#pragma once

#include "transport/schemes/bounce.hpp"

/// The schemes host_pack and staged for host data: the processor packs into a bounce chunk, or unpacks from
/// one. Nothing runs on after a call.
namespace lath::transport {

class ProcessorSource final : public Source {
 public:
  ProcessorSource(Scheme scheme, Buffer buffer, BouncePools pools, Counters& counters)
      : scheme_(scheme), buffer_(std::move(buffer)), pools_(pools), counters_(counters) {}
  [[nodiscard]] Scheme scheme() const noexcept override { return scheme_; }
  Result begin(PackedRange range, Slot& slot) noexcept override;
  Result ready(Slot&) noexcept override { return Result::done(); }
  void release(Slot& slot) noexcept override { pools_.give(slot); }

 private:
  Scheme scheme_;
  Buffer buffer_;
  BouncePools pools_;
  Counters& counters_;
};

class ProcessorSink final : public Sink {
 public:
  ProcessorSink(Scheme scheme, Buffer buffer, BouncePools pools, Counters& counters)
      : scheme_(scheme), buffer_(std::move(buffer)), pools_(pools), counters_(counters) {}
  [[nodiscard]] Scheme scheme() const noexcept override { return scheme_; }
  Result begin(PackedRange range, Slot& slot) noexcept override { return pools_.take(range, slot); }
  Result arrived(Slot& slot, std::int64_t bytes) noexcept override;
  Result finished(Slot&) noexcept override { return Result::done(); }
  void release(Slot& slot) noexcept override { pools_.give(slot); }

 private:
  Scheme scheme_;
  Buffer buffer_;
  BouncePools pools_;
  Counters& counters_;
};

}  // namespace lath::transport
