#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <array>

#include "base/log.hpp"
#include "providers/ofi/failure.hpp"
#include "providers/ofi/provider.hpp"

/// Progress and completions.
namespace lath::providers::ofi {
namespace {

constexpr std::size_t batch = 16;
constexpr std::uint64_t polls_a_watch = 512;

const char* action(OperationKind kind) {
  switch (kind) {
    case OperationKind::control_receive:
      return "receive";
    case OperationKind::tagged_receive:
      return "tagged receive from ";
    default:
      return "operation to ";
  }
}

}  // namespace

void OfiProvider::post_receive_buffer(Operation* operation) noexcept {
  void* descriptor = buffer_registration_ != nullptr ? buffer_registration_->descriptor() : nullptr;
  const long status = fi_recv(endpoint_.handle.get(), operation->buffer, limits_.max_control, descriptor,
                              FI_ADDR_UNSPEC, operation);
  if (status != 0) late_buffers_.push_back(operation);
}

void OfiProvider::repost_late_buffers() noexcept {
  for (std::size_t left = late_buffers_.size(); left > 0; --left) {
    Operation* operation = late_buffers_.back();
    late_buffers_.pop_back();
    post_receive_buffer(operation);
    if (!late_buffers_.empty() && late_buffers_.back() == operation) return;
  }
}

void OfiProvider::complete(Operation* operation, std::size_t bytes, Events& events) noexcept {
  switch (operation->kind) {
    case OperationKind::control_receive:
      events.on_message({operation->buffer, bytes});
      post_receive_buffer(operation);
      return;
    case OperationKind::tagged_receive: {
      const Context user = operation->user;
      receives_.give_back(operation);
      if (user != nullptr) events.on_completion(user, bytes, nullptr);
      return;
    }
    case OperationKind::transmit: {
      if (operation->batch != nullptr) return end_part(operation, nullptr, events);
      const Context user = operation->user;
      transmits_.give_back(operation);
      if (user != nullptr) events.on_completion(user, 0, nullptr);
      return;
    }
    case OperationKind::idle:
      return;
  }
}

Result OfiProvider::complete_failed(Events& events) noexcept {
  fi_cq_err_entry entry{};
  const ssize_t got = fi_cq_readerr(endpoint_.queue.get(), &entry, 0);
  if (got == -FI_EAGAIN) return Result::again();
  if (got < 0) return Result::failure(failure(got, "fi_cq_readerr"));
  std::array<char, 256> words{};
  const char* text =
      fi_cq_strerror(endpoint_.queue.get(), entry.prov_errno, entry.err_data, words.data(), words.size());
  auto* operation = static_cast<Operation*>(entry.op_context);
  if (operation == nullptr) return Result::failure(failure(entry.err, name_, text != nullptr ? text : ""));

  const OperationKind kind = operation->kind;
  const std::string peer = kind == OperationKind::control_receive ? "" : peers_[operation->peer].text;
  const Error error = failure(entry.err, action(kind) + peer, text != nullptr ? text : "");
  if (kind == OperationKind::control_receive) {
    log::warn("{}: {}", name_, error.what());
    if (entry.err != FI_ECANCELED) post_receive_buffer(operation);
    return Result::done();
  }
  const Context user = operation->user;
  const bool received = kind == OperationKind::tagged_receive;
  const Error* told = &error;
  // Devices say all kinds of things of operations with a peer that is dying.
  std::unique_ptr<Error> broken;
  if (error.lath_code() != Code::truncated && error.lath_code() != Code::unreachable &&
      !operation->cancelled) {
    PeerWatch& watch = peers_[operation->peer].watch;
    watch.look_at_process();
    const bool dropped = error.lath_code() == Code::cancelled;
    if (watch.dead() || dropped)
      broken = std::make_unique<Error>(
          Code::unreachable,
          peer + ": " + (watch.dead() ? watch.reason() : "the connection broke") + "; " + error.what());
    if (broken != nullptr) told = broken.get();
  }
  if (operation->batch != nullptr) {
    end_part(operation, told, events);
    return Result::done();
  }
  (received ? receives_ : transmits_).give_back(operation);
  if (user != nullptr) events.on_completion(user, received ? entry.len : 0, told);
  return Result::done();
}

Result OfiProvider::poll(Events& events) noexcept {
  if (++polls_ % polls_a_watch == 0) watch_peers(events);
  if (doorbell_due_) {
    doorbell_due_ = false;
    ++counters_.doorbells;
  }
  if (!late_buffers_.empty()) repost_late_buffers();
  std::array<fi_cq_msg_entry, batch> entries;
  const ssize_t got = fi_cq_read(endpoint_.queue.get(), entries.data(), entries.size());
  if (got > 0) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i)
      complete(static_cast<Operation*>(entries[i].op_context), entries[i].len, events);
    return Result::done();
  }
  if (got == -FI_EAGAIN || got == 0) return Result::again();
  if (got == -FI_EAVAIL) return complete_failed(events);
  return Result::failure(failure(got, "fi_cq_read of " + name_));
}

}  // namespace lath::providers::ofi
