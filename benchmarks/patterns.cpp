#include "benchmarks/patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/error.hpp"
#include "datatypes/type_spec.hpp"

namespace lath::benchmarks {
namespace {

/// `chosen` of the numbers below `total` in random order, no two consecutive ones next to each other: an
/// unstructured code's neighbour list. std::shuffle may differ between libraries, so the draw is spelled out.
std::vector<std::int64_t> random_indices(std::int64_t chosen, std::int64_t total, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> all(static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < static_cast<std::size_t>(chosen); ++i) {
    do {
      std::swap(all[i], all[i + random() % (all.size() - i)]);
    } while (i > 0 && all[i] == all[i - 1] + 1);
  }
  all.resize(static_cast<std::size_t>(chosen));
  return all;
}

std::vector<std::int64_t> times(std::vector<std::int64_t> values, std::int64_t factor) {
  for (auto& value : values) value *= factor;
  return values;
}

Datatype structure(const std::vector<std::int64_t>& offsets, const std::vector<Datatype>& members) {
  const std::vector<std::int64_t> ones(offsets.size(), 1);
  return Datatype::struct_(ones, offsets, members);
}

/// Fields of 32 x 50 floats, 32 x 65 x 50 floats, and one of 32 x 65 x 50 x 3 of which two slices travel.
Datatype wrf(const char* plane, const char* volume) {
  constexpr std::int64_t plane_bytes = 32 * 50 * 4;
  constexpr std::int64_t volume_bytes = 8320 * 50;
  std::vector<std::int64_t> offsets;
  std::vector<Datatype> members;
  std::int64_t base = 0;
  for (int field = 0; field < 4; ++field, base += plane_bytes) {
    offsets.push_back(base);
    members.push_back(parse_type(plane));
  }
  for (int field = 0; field < 3; ++field, base += volume_bytes) {
    offsets.push_back(base);
    members.push_back(parse_type(volume));
  }
  for (int slice = 1; slice < 3; ++slice) {
    offsets.push_back(base + slice * volume_bytes);
    members.push_back(parse_type(volume));
  }
  return structure(offsets, members);
}

Datatype wrf_x() {
  return wrf("vector(44,3,32,float)", "hvector(44,1,8320,vector(65,3,32,float))");
}

Datatype wrf_y() {
  return wrf("vector(3,23,32,float)", "hvector(3,1,8320,vector(65,23,32,float))");
}

/// Positions (three doubles an atom) and `scalars` further arrays, each for the same chosen atoms.
Datatype lammps(std::int64_t chosen, std::int64_t atoms, int scalars) {
  const auto indices = random_indices(chosen, atoms, 1);
  const Datatype number = Datatype::basic(Basic::double_);
  std::vector<std::int64_t> offsets{0};
  std::vector<Datatype> members{Datatype::indexed_block(3, times(indices, 3), number)};
  for (int scalar = 0; scalar < scalars; ++scalar) {
    offsets.push_back(atoms * 24 + scalar * atoms * 8);
    members.push_back(Datatype::indexed_block(1, indices, number));
  }
  return structure(offsets, members);
}

Datatype lammps_full() {
  return lammps(3062, 3534, 5);
}

Datatype lammps_atomic() {
  return lammps(243, 4084, 3);
}

Datatype specfem3d_oc() {
  return Datatype::indexed_block(1, random_indices(3225, 88881, 2), Datatype::basic(Basic::float_));
}

Datatype specfem3d_cm() {
  const Datatype number = Datatype::basic(Basic::float_);
  return structure({0, 834917 * 12},
                   {Datatype::indexed_block(3, times(random_indices(11797, 834917, 3), 3), number),
                    Datatype::indexed_block(3, times(random_indices(3009, 51153, 4), 3), number)});
}

/// Patterns whose type-spec can be written out.
struct SpecRow {
  std::string_view name;
  std::string_view origin;
  std::string_view spec;
};
constexpr SpecRow spec_rows[] = {
    {"milc_su3_zdown", "MILC, lattice QCD", "hvector(2,1,786432,vector(16,128,2048,contiguous(6,float)))"},
    {"nas_lu_y_64", "NAS LU, small", "vector(64,1,66,contiguous(5,double))"},
    {"nas_lu_y_162", "NAS LU, large", "vector(162,1,164,contiguous(5,double))"},
    {"nas_mg_x", "NAS MG", "hvector(256,1,1060896,vector(256,1,514,double))"},
    {"nas_mg_y", "NAS MG", "vector(256,512,132612,double)"},
    {"nas_mg_z", "NAS MG", "vector(256,512,514,double)"},
    {"specfem3d_mt", "SPECFEM3D, mantle", "vector(7600,1,2,contiguous(3,float))"},
    {"fft2d", "FFT, a transpose", "contiguous(512,resized(0,16,vector(512,1,1024,c_double_complex)))"},
    {"sw4_x_c", "SW4Lite x face, (i,j,k,c) order", "vector(33075,2,105,double)"},
    {"sw4_y_c", "SW4Lite y face, (i,j,k,c) order", "vector(315,210,11025,double)"},
    {"sw4_x_f", "SW4Lite x face, (c,i,j,k) order", "vector(11025,6,315,double)"},
    {"sw4_y_f", "SW4Lite y face, (c,i,j,k) order", "vector(105,630,33075,double)"},
    {"sw4_y_big", "SW4Lite y face, large", "vector(600,400,40000,double)"},
    {"sw4_x_big", "SW4Lite x face, large", "vector(120000,2,200,double)"},
    {"comb_i", "Comb, i face", "subarray([102,102,102],[100,100,1],[1,1,1],c,double)"},
    {"comb_j", "Comb, j face", "subarray([102,102,102],[100,1,100],[1,1,1],c,double)"},
    {"osu_vect", "OSU micro-benchmarks, vector", "vector(131072,4,8,char)"},
    {"tiny_1e6", "a million blocks of four bytes", "vector(1000000,1,2,int)"},
};

template <std::size_t row>
Datatype spec_row() {
  return parse_type(spec_rows[row].spec);
}

template <std::size_t... rows>
std::vector<Pattern> with_spec_rows(std::vector<Pattern> made, std::index_sequence<rows...>) {
  (made.push_back({spec_rows[rows].name, spec_rows[rows].origin, spec_rows[rows].spec, &spec_row<rows>}),
   ...);
  return made;
}

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = with_spec_rows(
      {
          {"wrf_x", "WRF, weather",
           "struct of 4 x vector(44,3,32,float), 5 x hvector(44,1,8320,vector(65,3,32,float))", &wrf_x},
          {"wrf_y", "WRF, weather",
           "struct of 4 x vector(3,23,32,float), 5 x hvector(3,1,8320,vector(65,23,32,float))", &wrf_y},
          {"lammps_full", "LAMMPS, molecules",
           "struct of indexed_block(3,[3062 of 3534],double), 5 x indexed_block(1,..)", &lammps_full},
          {"lammps_atomic", "LAMMPS, atoms",
           "struct of indexed_block(3,[243 of 4084],double), 3 x indexed_block(1,..)", &lammps_atomic},
          {"specfem3d_oc", "SPECFEM3D, outer core", "indexed_block(1,[3225 of 88881],float)", &specfem3d_oc},
          {"specfem3d_cm", "SPECFEM3D, crust and mantle",
           "struct of indexed_block(3,[11797 of 834917],float), indexed_block(3,[3009 of 51153],float)",
           &specfem3d_cm},
      },
      std::make_index_sequence<std::size(spec_rows)>());
  return all;
}

Datatype pattern_type(std::string_view name_or_type) {
  const auto& all = patterns();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Pattern& p) { return p.name == name_or_type; });
  if (at != all.end()) return at->make();
  try {
    return parse_type(name_or_type);
  } catch (const Error& error) {
    if (error.lath_code() != Code::parse || !is_word(name_or_type)) throw;
    throw Error(Code::parse,
                fmt::format("'{}' is no pattern (lath bench list names them); as a type-spec: {}",
                            name_or_type, error.what()));
  }
}

}  // namespace lath::benchmarks
