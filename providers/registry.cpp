#include "providers/registry.hpp"

#include <algorithm>

#include "base/config.hpp"
#include "base/log.hpp"
#if defined(LATH_HAVE_OFI)
#include "providers/ofi/open.hpp"
#endif
#if defined(LATH_HAVE_UCX)
#include "providers/ucx/open.hpp"
#endif
#if defined(LATH_HAVE_VERBS)
#include "providers/verbs/open.hpp"
#endif

namespace lath::providers {
namespace {

std::string_view family_of(std::string_view name) {
  return name.substr(0, name.find(':'));
}

std::string all_candidates() {
  std::string text;
  for (const Family& family : families())
    for (const std::string& name : family.candidates()) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// Of the provider's name, "ofi:tcp" or "ofi". `said_by` begins the error's text.
const Family& find_family(std::string_view wanted, std::string_view said_by) {
  for (const Family& family : families())
    if (family.name == family_of(wanted)) return family;
  throw Error(Code::parse, std::string(said_by) + '"' + std::string(wanted) +
                               "\" is no provider; this machine offers " + all_candidates());
}

/// Goes through the candidates of one family, or of all where `wanted` is empty.
std::unique_ptr<Provider> open_best(std::string_view wanted) {
  std::string reasons;
  for (const Family& family : families()) {
    if (!wanted.empty() && family.name != wanted) continue;
    for (const std::string& name : family.candidates()) {
      try {
        return family.open(name);
      } catch (const Error& error) {
        log::info("provider {} is passed over: {}", name, error.what());
        reasons += "\n  " + name + ": " + error.what();
      }
    }
  }
  if (reasons.empty()) reasons = " none is offered on this machine";
  throw Error(Code::not_supported, "no provider works:" + reasons);
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> built_in = {
#if defined(LATH_HAVE_VERBS)
    verbs::family(),
#endif
#if defined(LATH_HAVE_OFI)
    ofi::family(),
#endif
#if defined(LATH_HAVE_UCX)
    ucx::family(),
#endif
  };
  return built_in;
}

std::unique_ptr<Provider> open(std::string_view wanted) {
  const std::string configured = wanted.empty() ? config::text("LATH_PROVIDER") : std::string(wanted);
  if (configured.empty()) return open_best(configured);
  const Family& family = find_family(configured, wanted.empty() ? "LATH_PROVIDER=" : "");
  return configured.find(':') != std::string::npos ? family.open(configured) : open_best(configured);
}

std::vector<Candidate> probe_all() {
  std::vector<Candidate> found;
  for (const Family& family : families())
    for (const std::string& name : family.candidates()) {
      Candidate candidate;
      candidate.name = name;
      try {
        const auto provider = family.open(name);
        candidate.viable = true;
        candidate.limits = provider->limits();
        candidate.memory_bytes = provider->memory_bytes();
      } catch (const Error& error) {
        candidate.reason = error.what();
      }
      found.push_back(std::move(candidate));
    }
  return found;
}

}  // namespace lath::providers
