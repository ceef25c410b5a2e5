#include "apps/wave/kernel_entries.hpp"
