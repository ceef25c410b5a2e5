#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "datatypes/layout.hpp"

namespace lath {

/// A layout as bytes for another process: versioned, little-endian, varint-coded; regular layouts take a few
/// dozen bytes whatever their block count.
std::vector<std::byte> encode(const Layout& layout);

/// Reads what encode() wrote. Every field is checked before use: throws Error(corrupt) that names the field;
/// never reads outside `wire`, and allocates no more than a small multiple of wire.size().
Layout decode_layout(std::span<const std::byte> wire);

}  // namespace lath
