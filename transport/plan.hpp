#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datatypes/layout.hpp"
#include "providers/provider.hpp"

/// Which scheme moves each side of a message, and in which chunks. Pure functions of what is known of both
/// sides.
namespace lath::transport {

/// How one side of one message is moved.
enum class Scheme : std::uint8_t {
  contiguous,  ///< the NIC reads or writes the user's one block directly
  gather,      ///< the NIC reads or writes the user's blocks through a segment list (scatter on the receiving
               ///< side)
  device_pack,  ///< a kernel packs into device memory, and the NIC reads that
  host_pack,    ///< a kernel (device data) or the CPU (host data) packs into pinned host memory, and the NIC
                ///< reads that
  staged,       ///< plain copies through host memory: always works, the oracle of the tests
};
inline constexpr std::size_t scheme_count = 5;
std::string_view name(Scheme scheme);

enum class Direction : std::uint8_t { send, receive };

/// What one side tells the other of its memory; travels in the RTS.
struct Summary {
  std::int64_t bytes = 0;  ///< packed bytes of the message
  std::int64_t segments = 0;
  std::int64_t uniform_block = 0;  ///< as Layout::uniform_block()
  std::int64_t alignment = 1;
  LayoutHash hash;
  providers::MemoryKind memory = providers::MemoryKind::host;
  friend bool operator==(const Summary&, const Summary&) = default;
};
[[nodiscard]] Summary summarise(const Layout& layout, providers::MemoryKind memory);

/// What this process can do besides its NIC.
struct Capabilities {
  bool gpu = false;      ///< a GPU or the emulator is in use
  bool kernels = false;  ///< and its pack kernels are loaded
  /// Packed bytes that one of this process's bounce buffers holds; 0: as the tuning of the process that makes
  /// the plan.
  std::int64_t bounce_bytes = 0;
  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

/// What LATH_SCHEME, LATH_CHUNK_BYTES and LATH_CHUNKS_IN_FLIGHT say.
struct Tuning {
  std::optional<Scheme> forced;  ///< wherever it is legal
  std::int64_t chunk_bytes = 512 * 1024;
  std::int32_t chunks_in_flight = 4;
};
/// Reads the registry of variables and keeps the result for tuning(). Throws Error(parse) for a value that
/// makes no sense. Every SchemeFactory does this once.
Tuning read_tuning();
/// The tuning last read; the defaults where nothing was read yet or the environment is wrong. Thread safe, no
/// lock.
[[nodiscard]] Tuning tuning() noexcept;

/// Whether a scheme may move this side, why not, and how long it is predicted to take.
struct Verdict {
  Scheme scheme;
  bool legal = false;
  std::string reason;    ///< one clause; for illegal schemes what stands against it
  double seconds = 0.0;  ///< predicted for the whole message on this side, wire included; 0 where illegal
};
/// Every scheme's verdict, in the order of the enum: what `lath explain` prints. A side of mixed memory (host
/// and device segments in one type) is given as `mixed`: only staged is legal then.
[[nodiscard]] std::vector<Verdict> judge(const Summary& side, Direction direction,
                                         const providers::Limits& limits, const Capabilities& capabilities,
                                         bool mixed = false, const Tuning& tuned = tuning());
/// The legality alone, without reasons. Allocates nothing.
[[nodiscard]] bool is_legal(Scheme scheme, const Summary& side, Direction direction,
                            const providers::Limits& limits, const Capabilities& capabilities,
                            bool mixed = false) noexcept;

/// The legal scheme of least predicted time, or the one that LATH_SCHEME forces where it is legal. Allocates
/// nothing.
[[nodiscard]] Scheme choose(const Summary& side, Direction direction, const providers::Limits& limits,
                            const Capabilities& capabilities, bool mixed = false,
                            const Tuning& tuned = tuning()) noexcept;

/// What to move a side with instead where making its Source or Sink for a legal scheme failed (a registration
/// was refused, device memory is exhausted): a scheme that needs less. Ends at staged. Takes
/// the chunks of make_plan() wherever the refused scheme needed a registration or a bounce buffer.
[[nodiscard]] Scheme fallback(Scheme refused, const Summary& side, const Capabilities& capabilities,
                              bool mixed = false) noexcept;

/// Segments that one operation's list holds: what the provider grants, cut to max_list_length.
[[nodiscard]] std::size_t list_length(const providers::Limits& limits, Direction direction) noexcept;
inline constexpr std::size_t max_list_length = 256;
inline constexpr std::int32_t max_chunks_in_flight = 64;

/// A rendezvous message's plan, made by the receiver.
struct Plan {
  Scheme source = Scheme::staged;
  Scheme sink = Scheme::staged;
  std::int64_t chunk_bytes = 0;       ///< packed bytes of every chunk but the last; at least 1
  std::int32_t chunks_in_flight = 1;  ///< 1 to max_chunks_in_flight
  double seconds = 0.0;               ///< predicted for the whole message
};
/// Chooses both sides' schemes together, by the least predicted time of the message of
/// min(source.bytes, sink.bytes). Chunk bounds suit both sides:
/// - a gather side of more segments than its list holds takes chunks of at most list-length blocks;
/// - a packing side takes chunks of at most its bounce buffers' size;
/// - a side whose user memory must be registered does, too, so that it can fall back when that is refused;
/// - else the message is one chunk, up to the largest message of both providers.
/// Allocates nothing.
[[nodiscard]] Plan make_plan(const Summary& source, const providers::Limits& source_limits,
                             const Capabilities& source_capabilities, bool source_mixed, const Summary& sink,
                             const providers::Limits& sink_limits, const Capabilities& sink_capabilities,
                             bool sink_mixed, const Tuning& tuned = tuning()) noexcept;

}  // namespace lath::transport
