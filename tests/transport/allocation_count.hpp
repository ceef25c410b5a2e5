#pragma once

#include <cstddef>

/// Calls of operator new in this process so far: for functions that promise not to allocate.
std::size_t allocation_count();
