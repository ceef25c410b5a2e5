#include "tests/cxi_stand_in/record.hpp"

#include <rdma/fi_errno.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/cxi_stand_in/counts.hpp"

namespace lath::cxi_stand_in {

Record& record() {
  static Record instance;
  return instance;
}

int refuse(int number, const char* rule) {
  ++record().refusals;
  const char* strict = std::getenv("CXI_STAND_IN_STRICT");
  if (strict != nullptr && std::string_view(strict) == "1") {
    std::fprintf(stderr, "the stand-in for cxi refuses: %s\n", rule);
    std::abort();
  }
  return -number;
}

int full() {
  ++record().again;
  return -FI_EAGAIN;
}

void write_record() {
  const char* path = std::getenv("CXI_STAND_IN_COUNTS");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  lath_cxi_stand_in_counts counts{};
  lath_cxi_stand_in_read_counts(&counts);
  std::fprintf(file, "operations=%lu device_operations=%lu doorbells=%lu batches=%lu refusals=%lu\n",
               static_cast<unsigned long>(counts.operations),
               static_cast<unsigned long>(counts.device_operations),
               static_cast<unsigned long>(counts.doorbells), static_cast<unsigned long>(counts.batches),
               static_cast<unsigned long>(counts.refusals));
  std::fclose(file);
}

}  // namespace lath::cxi_stand_in

extern "C" __attribute__((visibility("default"))) void lath_cxi_stand_in_read_counts(
    lath_cxi_stand_in_counts* counts) {
  const auto& record = lath::cxi_stand_in::record();
  *counts = {.operations = record.operations,
             .injects = record.injects,
             .writes = record.writes,
             .device_operations = record.device_operations,
             .doorbells = record.doorbells,
             .batches = record.batches,
             .registrations = record.registrations,
             .optimised = record.optimised,
             .completions = record.completions,
             .again = record.again,
             .refusals = record.refusals,
             .transmit_size = record.transmit_size,
             .receive_size = record.receive_size,
             .completion_size = record.completion_size,
             .ordered_writes = record.ordered_writes,
             .flushes = record.flushes};
}
