#include "gpu/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/config.hpp"
#include "gpu/driver_load.hpp"

namespace lath::gpu {
namespace {

constexpr const char* emulator_mark = "lath_emulator_alias";

/// The file that this code was loaded from: the library, or a program that it is linked into. The loader
/// calls a program as it was called, which is no path where the shell found it.
std::filesystem::path own_file() {
  Dl_info self{};
  link_map* map = nullptr;
  std::error_code ignored;
  const bool known = dladdr1(reinterpret_cast<const void*>(&loaded_driver), &self,
                             reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  if (known && map != nullptr && map->l_name[0] != '\0')
    return std::filesystem::absolute(map->l_name, ignored).lexically_normal();
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

std::vector<std::string> emulator_places() {
  std::vector<std::string> places;
  if (const auto folder = own_file().parent_path(); !folder.empty()) {
    places.push_back(folder / "lath/emulator/libcuda.so.1");
    // Of an installed program, wherever the prefix was moved.
    places.push_back(folder.parent_path() / LATH_LIBRARY_FOLDER / "lath/emulator/libcuda.so.1");
    // In a build tree, the binary lies a few folders below the one that holds gpu/emulator.
    auto up = folder;
    for (int level = 0; level < 4 && up.has_relative_path(); ++level, up = up.parent_path())
      places.push_back(up / "gpu/emulator/libcuda.so.1");
  }
  places.emplace_back(LATH_EMULATOR_INSTALLED);
  return places;
}

/// Empty where there is none; then `tried` gets the places.
std::string emulator_path(std::vector<std::string>& tried) {
  if (auto chosen = config::text("LATH_EMULATOR"); !chosen.empty()) return chosen;
  tried = emulator_places();
  for (const auto& place : tried)
    if (access(place.c_str(), R_OK) == 0) return place;
  return {};
}

bool fail(LoadedDriver& loaded, std::string reason) {
  loaded.availability.reason = std::move(reason);
  return false;
}

/// The loader's words name the file that fails first, which is mostly the one asked for.
std::string load_failure(const std::string& path, const std::string& why) {
  return why.starts_with(path) ? fmt::format("cannot load {}", why)
                               : fmt::format("cannot load {}: {}", path, why);
}

bool open_library(LoadedDriver& loaded, const std::string& choice) {
  if (choice == "none") return fail(loaded, "LATH_GPU=none");
  const bool emulated = choice == "emulated";
  std::vector<std::string> tried;
  const std::string path = emulated ? emulator_path(tried) : "libcuda.so.1";
  if (path.empty())
    return fail(loaded, fmt::format("the emulator was not found; set LATH_EMULATOR to its path (tried {})",
                                    fmt::join(tried, ", ")));
  loaded.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded.handle == nullptr) return fail(loaded, load_failure(path, dlerror()));
  const bool is_emulator = dlsym(loaded.handle, emulator_mark) != nullptr;
  if (is_emulator == emulated) return true;
  return fail(loaded, emulated ? fmt::format("{} is not Lath's emulator", path)
                               : std::string("the libcuda.so.1 found is Lath's emulator, which is used only "
                                             "where LATH_GPU=emulated asks for it"));
}

void resolve(LoadedDriver& loaded) {
#define LATH_DRIVER_RESOLVE(kind, symbol, ...) loaded.table.symbol.resolve(dlsym(loaded.handle, #symbol));
  LATH_DRIVER_CALLS(LATH_DRIVER_RESOLVE)
#undef LATH_DRIVER_RESOLVE
}

std::string describe(const DriverTable& table, CUresult code) {
  const char* name = nullptr;
  const char* text = nullptr;
  table.cuGetErrorName(code, &name);
  table.cuGetErrorString(code, &text);
  return fmt::format("{}: {}", name != nullptr ? name : std::to_string(code), text != nullptr ? text : "?");
}

/// What the emulator holds against its variables, in brackets; empty for a driver.
std::string emulator_problem(void* library) {
  using Ask = const char* (*)();
  const auto ask = reinterpret_cast<Ask>(dlsym(library, "lath_emulator_problem"));
  const std::string problem = ask == nullptr ? "" : ask();
  return problem.empty() ? "" : fmt::format(" ({})", problem);
}

std::string name_of_device(const DriverTable& table, int ordinal) {
  std::array<char, 256> name{};
  CUdevice device = 0;
  if (table.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
      table.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device) != CUDA_SUCCESS)
    return "a device without a name";
  return name.data();
}

bool start(LoadedDriver& loaded) {
  const auto& table = loaded.table;
  auto& out = loaded.availability;
  if (const auto code = table.cuInit(0); code != CUDA_SUCCESS)
    return fail(loaded,
                fmt::format("cuInit failed: {}{}", describe(table, code), emulator_problem(loaded.handle)));
  if (const auto code = table.cuDeviceGetCount(&out.device_count); code != CUDA_SUCCESS)
    return fail(loaded, fmt::format("cuDeviceGetCount failed: {}", describe(table, code)));
  if (out.device_count == 0) return fail(loaded, "the CUDA driver reports no device");
  for (int ordinal = 0; ordinal < out.device_count; ++ordinal)
    out.device_names.push_back(name_of_device(table, ordinal));
  out.device_name = out.device_names.front();
  return true;
}

LoadedDriver* load() {
  auto* loaded = new LoadedDriver;  // lives as long as the process: streams may be destroyed at exit
  try {
    const auto choice = config::text("LATH_GPU");
    if (!open_library(*loaded, choice)) return loaded;
    resolve(*loaded);
    loaded->availability.available = start(*loaded);
    loaded->availability.emulated = loaded->availability.available && choice == "emulated";
  } catch (const std::exception& problem) {
    loaded->availability.available = false;
    loaded->availability.reason = problem.what();
  }
  return loaded;
}

}  // namespace

const LoadedDriver& loaded_driver() noexcept {
  static const LoadedDriver* const loaded = load();
  return *loaded;
}

DriverCounts& driver_counts() noexcept {
  static DriverCounts counts;
  return counts;
}

const DriverTable* driver() noexcept {
  const auto& loaded = loaded_driver();
  return loaded.availability.available ? &loaded.table : nullptr;
}

void* driver_symbol(const char* name) noexcept {
  const auto& loaded = loaded_driver();
  return loaded.availability.available ? dlsym(loaded.handle, name) : nullptr;
}

Error driver_error(int code, std::string doing) {
  const auto& loaded = loaded_driver();
  if (loaded.handle == nullptr) return {Code::gpu, fmt::format("{}: {}", doing, loaded.availability.reason)};
  return {Domain::cuda, code,
          fmt::format("{} failed: {}", doing, describe(loaded.table, static_cast<CUresult>(code)))};
}

const Availability& availability() {
  return loaded_driver().availability;
}

void require_emulator() {
  if (config::text("LATH_GPU") != "emulated" || availability().available) return;
  throw Error(Code::not_supported, fmt::format("LATH_GPU='emulated': {}", availability().reason));
}

}  // namespace lath::gpu
