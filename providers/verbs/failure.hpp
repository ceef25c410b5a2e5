#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <string>

#include "base/error.hpp"

namespace lath::providers::verbs {

/// An errno of libibverbs (which hands them out positive) as an Error: exhausted memory and unreachable
/// hosts as that code of Domain::lath, others in Domain::verbs.
[[nodiscard]] Error failure(int number, const std::string& doing);

/// The status of a work completion as an Error: a peer that does not answer as Code::unreachable, a message
/// longer than its receive as Code::truncated, others in Domain::verbs with libibverbs' words.
[[nodiscard]] Error failure(ibv_wc_status status, const std::string& doing);

/// Throws failure() where `number` is not 0.
void check(int number, const char* doing);

/// Throws failure(errno) where `object` is null; returns it else.
template <class Object>
Object* check_object(Object* object, const char* doing) {
  if (object == nullptr) check(errno != 0 ? errno : ENODEV, doing);
  return object;
}

}  // namespace lath::providers::verbs
