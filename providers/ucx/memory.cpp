#include "providers/ucx/memory.hpp"

#include "providers/ucx/failure.hpp"

namespace lath::providers::ucx {

MappedMemory::MappedMemory(ucp_context_h context, void* address, std::size_t length, MemoryKind kind,
                           bool writable)
    : context_(context) {
  ucp_mem_map_params_t parameters{};
  parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                          UCP_MEM_MAP_PARAM_FIELD_PROT | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
  parameters.address = address;
  parameters.length = length;
  parameters.prot = UCP_MEM_MAP_PROT_LOCAL_READ;
  if (writable) parameters.prot |= UCP_MEM_MAP_PROT_LOCAL_WRITE;
  parameters.memory_type = kind == MemoryKind::device ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
  check(library()->mem_map(context, &parameters, &handle_), "ucp_mem_map");
}

MappedMemory::~MappedMemory() {
  if (handle_ != nullptr) library()->mem_unmap(context_, handle_);
}

}  // namespace lath::providers::ucx
