#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "datatypes/datatype.hpp"

namespace lath {

/// Seeded random nested types: all constructors, empty parts, negative and zero strides, overlaps, resized
/// and pair types. The same seed gives the same sequence of types. Sizes stay below max_elements basic
/// elements or so.
class RandomType {
 public:
  struct Options {
    int depth = 5;
    std::int64_t max_elements = 400;
    /// Whether the data of a type may overlap itself (legal for sending only).
    bool overlap = true;
  };
  explicit RandomType(std::uint64_t seed) : RandomType(seed, Options()) {}
  RandomType(std::uint64_t seed, const Options& options) : random_(seed), options_(options) {}

  Datatype next() { return make(static_cast<int>(below(options_.depth + 1)), options_.max_elements); }

  /// Uniform in [0, bound).
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

 private:
  using Numbers = std::vector<std::int64_t>;

  Datatype make(int depth, std::int64_t budget) {
    if (depth == 0) return Datatype::basic(static_cast<Basic>(below(static_cast<std::int64_t>(basic_count))));
    switch (below(options_.overlap ? 12 : 6)) {
      case 0: {
        const std::int64_t count = few(budget);
        return Datatype::contiguous(count, make(depth - 1, part(budget, count)));
      }
      case 1: {
        Array array(*this, budget);
        const Datatype inner = make(depth - 1, part(budget, array.taken));
        return Datatype::subarray(array.sizes, array.subsizes, array.starts, order(), inner);
      }
      case 2:
        return darray(depth, budget);
      case 3:
        return Datatype::dup(make(depth - 1, budget));
      case 4:
        return apart(depth, budget);
      case 5:
        return structure(depth, budget);
      case 6: {
        const std::int64_t count = few(budget);
        const std::int64_t length = few(part(budget, count));
        return Datatype::vector(count, length, between(-2, 6), make(depth - 1, part(budget, count * length)));
      }
      case 7: {
        const std::int64_t count = few(budget);
        const std::int64_t length = few(part(budget, count));
        const Datatype inner = make(depth - 1, part(budget, count * length));
        return Datatype::hvector(count, length, near(length * inner.extent()), inner);
      }
      case 8:
        return listed(depth, budget);
      case 9: {
        const Datatype inner = make(depth - 1, budget);
        return Datatype::resized(between(-8, 8), near(inner.extent()), inner);
      }
      case 10:
        return structure(depth, budget);
      default:
        return listed(depth, budget);
    }
  }

  /// Equal parts that do not overlap, in a regular or a listed arrangement.
  Datatype apart(int depth, std::int64_t budget) {
    const std::int64_t count = few(budget);
    Datatype inner = make(depth - 1, part(budget, count));
    inner = Datatype::resized(inner.true_lower_bound(), inner.true_extent() + below(3) * 4, inner);
    if (below(2) == 0) return Datatype::vector(count, 1, between(1, 3), inner);
    Numbers lengths;
    Numbers displacements;
    std::int64_t next = between(-3, 3);
    for (std::int64_t i = 0; i < count; ++i) {
      lengths.push_back(1);
      displacements.push_back(next);
      next += between(1, 2);
    }
    for (std::size_t i = displacements.size(); below(2) == 0 && i > 1; --i)
      std::swap(displacements[i - 1],
                displacements[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    return Datatype::indexed(lengths, displacements, inner);
  }

  Datatype listed(int depth, std::int64_t budget) {
    const std::int64_t count = few(budget);
    const std::int64_t most = std::min<std::int64_t>(part(budget, count), 4);
    Numbers lengths;
    for (std::int64_t i = 0; i < count; ++i) lengths.push_back(below(most + 1));
    const Datatype inner = make(depth - 1, part(budget, count * most));
    const std::int64_t kind = below(4);
    const std::int64_t step = between(-3, 6);
    Numbers displacements;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t element = below(4) == 0 ? between(-10, 20) : i * step;
      displacements.push_back(kind % 2 == 0 ? element : near(element * inner.extent()));
    }
    if (kind == 0) return Datatype::indexed(lengths, displacements, inner);
    if (kind == 1) return Datatype::hindexed(lengths, displacements, inner);
    if (kind == 2) return Datatype::indexed_block(most, displacements, inner);
    return Datatype::hindexed_block(most, displacements, inner);
  }

  Datatype structure(int depth, std::int64_t budget) {
    const std::int64_t count = between(0, 4);
    Numbers lengths;
    Numbers displacements;
    std::vector<Datatype> members;
    std::int64_t next = between(-8, 8);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t length = std::min<std::int64_t>(few(part(budget, count)), 4);
      const Datatype member =
          !members.empty() && below(4) == 0
              ? members.back()
              : make(static_cast<int>(below(depth)), part(budget, count * std::max<std::int64_t>(length, 1)));
      // Without overlap every member begins past the data of those before it.
      const std::int64_t copies = std::max<std::int64_t>(length - 1, 0) * member.extent();
      const std::int64_t low = member.true_lower_bound() + std::min<std::int64_t>(copies, 0);
      const std::int64_t high =
          member.true_lower_bound() + member.true_extent() + std::max<std::int64_t>(copies, 0);
      const bool apart = !options_.overlap || below(2) == 0;
      const bool single = !options_.overlap && member.extent() < member.true_extent();
      lengths.push_back(single ? std::min<std::int64_t>(length, 1) : length);
      displacements.push_back(apart ? next - low + below(3) * 4 : between(-40, 80));
      if (apart) next = displacements.back() + high;
      members.push_back(member);
    }
    return Datatype::struct_(lengths, displacements, members);
  }

  struct Array {
    Array(RandomType& random, std::int64_t budget) {
      const std::int64_t dimensions = random.between(1, 4);
      for (std::int64_t d = 0; d < dimensions; ++d) {
        const std::int64_t most = std::min<std::int64_t>(std::max<std::int64_t>(budget / taken, 1), 4);
        subsizes.push_back(random.between(1, most));
        starts.push_back(random.between(0, 2));
        sizes.push_back(starts.back() + subsizes.back() + random.between(0, 2));
        taken *= subsizes.back();
      }
    }
    Numbers sizes, subsizes, starts;
    std::int64_t taken = 1;
  };

  Datatype darray(int depth, std::int64_t budget) {
    const std::int64_t dimensions = between(1, 3);
    Numbers gsizes;
    Numbers arguments;
    Numbers psizes;
    std::vector<Distribution> distributions;
    std::int64_t processes = 1;
    std::int64_t elements = 1;
    for (std::int64_t d = 0; d < dimensions; ++d) {
      distributions.push_back(static_cast<Distribution>(below(3)));
      gsizes.push_back(between(1, std::min<std::int64_t>(std::max<std::int64_t>(budget / elements, 1), 9)));
      psizes.push_back(distributions.back() == Distribution::none ? 1 : between(1, 4));
      const std::int64_t least = (gsizes.back() + psizes.back() - 1) / psizes.back();
      const bool standard = below(2) == 0 || distributions.back() == Distribution::none;
      arguments.push_back(standard                                      ? default_distribution
                          : distributions.back() == Distribution::block ? least + below(2)
                                                                        : between(1, 4));
      processes *= psizes.back();
      elements *= gsizes.back();
    }
    const std::int64_t rank = below(processes);
    const Datatype inner = make(depth - 1, part(budget, elements));
    return Datatype::darray(processes, rank, gsizes, distributions, arguments, psizes, order(), inner);
  }

  Order order() { return below(2) == 0 ? Order::c : Order::fortran; }
  /// A count: often small, sometimes 0, at times as large as the budget.
  std::int64_t few(std::int64_t budget) {
    const std::int64_t most = std::max<std::int64_t>(budget, 1);
    return below(8) == 0 ? between(0, std::min<std::int64_t>(most, 40))
                         : between(below(6) == 0 ? 0 : 1, std::min<std::int64_t>(most, 5));
  }
  static std::int64_t part(std::int64_t budget, std::int64_t count) {
    return std::max<std::int64_t>(budget / std::max<std::int64_t>(count, 1), 1);
  }
  /// Often the value itself, where pieces meet; else somewhere near it.
  std::int64_t near(std::int64_t value) { return below(3) == 0 ? value : value + between(-12, 16); }

  std::mt19937_64 random_;
  Options options_;
};

}  // namespace lath
