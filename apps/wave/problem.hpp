#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/wave/time_function.hpp"

/// What is to be computed. SI units throughout; x and y are horizontal, z is depth; the grid's first point is
/// (0, 0), and z = 0 is the surface.
namespace lath::wave {

using Position = std::array<double, 3>;

/// Material from the depth `top` down to the next layer.
struct Layer {
  double top = 0.0;
  double vp = 0.0;
  double vs = 0.0;
  double density = 0.0;
};

/// A point force (N) and a moment tensor (N m, xx xy xz yy yz zz) that act with one time function.
struct Source {
  Position position{};
  std::array<double, 3> force{};
  std::array<double, 6> moment{};
  TimeFunction time;
};

/// Records the displacement of the nearest grid point.
struct Receiver {
  std::string name;
  Position position{};
};

/// A picture of one slice of the final displacement.
struct Picture {
  enum class Show : std::uint8_t { x, y, z, magnitude };
  std::string file;
  std::size_t normal = 1;  ///< 0 to 2: the direction that the slice is perpendicular to
  double at = 0.0;         ///< where along it, metres
  Show show = Show::z;
};

struct Problem {
  enum class Mode : std::uint8_t {
    source,       ///< layers and sources; nothing moves beyond the sides
    manufactured  ///< an exact solution, forced and prescribed at the ghost points
  };
  enum class Top : std::uint8_t {
    free,   ///< no stress at z = 0
    damped  ///< like the other sides
  };

  std::string title;
  Mode mode = Mode::source;
  std::array<std::int64_t, 3> points{};
  double spacing = 0.0;
  Top top = Top::free;
  double time_step = 0.0;
  std::int64_t steps = 0;
  std::vector<Layer> layers;
  std::int64_t damping_points = 0;   ///< width of the damped zone at each side
  double damping_reflection = 1e-3;  ///< what a P wave keeps of its amplitude after crossing the zone twice
  std::vector<Source> sources;
  std::vector<Receiver> receivers;
  std::string receiver_folder;  ///< empty: none are written
  std::optional<Picture> picture;

  /// Depth of the grid's first points. A free surface lies halfway between the second and the third.
  [[nodiscard]] double first_depth() const {
    return mode == Mode::source && top == Top::free ? -1.5 * spacing : 0.0;
  }
  /// Metres, of a global point.
  [[nodiscard]] Position position(const std::array<std::int64_t, 3>& point) const {
    return {static_cast<double>(point[0]) * spacing, static_cast<double>(point[1]) * spacing,
            static_cast<double>(point[2]) * spacing + first_depth()};
  }
  /// The global point nearest to a position, inside the grid.
  [[nodiscard]] std::array<std::int64_t, 3> nearest_point(const Position& position) const;
};

/// Time steps are stable up to this times spacing / time_scale_speed().
inline constexpr double largest_cfl = 1.3;

/// The speed that limits the time step: sqrt(vp^2 + 2 vs^2) of the fastest material, or 1.5 vp of the
/// material below a free surface.
[[nodiscard]] double time_scale_speed(const Problem& problem);

/// Sets time_step and steps so that `end` is reached with whole steps of at most cfl times the scale above.
void set_time(Problem& problem, double end, double cfl);

}  // namespace lath::wave
