#pragma once

#include <string>

namespace lath::cli {

/// Throws WrongUsage where a LATH_* variable has a value that cannot be used, or asks for an emulator that
/// cannot be had. The text names the variable, its value and what is expected.
void check_environment();

/// Throws WrongUsage where `option` (the value of --provider) or, where that is empty, LATH_PROVIDER names no
/// provider that this machine offers. The text names those that it does. Opens none.
void check_provider(const std::string& option);

}  // namespace lath::cli
