#include "providers/verbs/tagged.hpp"

#include <algorithm>

namespace lath::providers::verbs {

void TaggedMatching::match(TaggedReceive* receive, const TaggedRequest& request) noexcept {
  receive->request = request;
  receive->state = TaggedReceive::State::matched;
  matched_.push(receive);
}

void TaggedMatching::receive(TaggedReceive* receive) noexcept {
  const auto early = std::find_if(early_.begin(), early_.end(),
                                  [&](const TaggedRequest& request) { return request.tag == receive->tag; });
  if (early == early_.end()) {
    receive->state = TaggedReceive::State::waiting;
    waiting_.push(receive);
    return;
  }
  match(receive, *early);
  early_.erase(early);
}

bool TaggedMatching::request(const TaggedRequest& request) noexcept {
  TaggedReceive* receive =
      waiting_.take([&](const TaggedReceive& waiting) { return waiting.tag == request.tag; });
  if (receive != nullptr) {
    match(receive, request);
    return true;
  }
  if (early_.size() == early_.capacity()) return false;
  early_.push_back(request);
  return true;
}

bool TaggedMatching::withdraw(TaggedReceive* receive) noexcept {
  return waiting_.take([&](const TaggedReceive& waiting) { return &waiting == receive; }) != nullptr;
}

TaggedReceive* TaggedMatching::take_any() noexcept {
  if (!waiting_.empty()) return waiting_.pop();
  return matched_.empty() ? nullptr : matched_.pop();
}

}  // namespace lath::providers::verbs
