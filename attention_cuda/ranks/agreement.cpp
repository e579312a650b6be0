#include "attention_cuda/ranks/agreement.hpp"

#include <exception>
#include <optional>
#include <sstream>

namespace flashlab::cuda {
namespace {

constexpr const char* kRefused = "refused";  // the fact of a rank whose own call is wrong

std::string text_of(const CallFacts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + '\t' + value + '\n';
  return text;
}

CallFacts facts_in(const std::string& text) {
  CallFacts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    facts.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  return facts;
}

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "none";
}

std::string all_text(const std::vector<std::int64_t>& numbers) {
  std::string text = numbers.empty() ? "none" : "";
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return text;
}

/// Throws if a fact of `rank` is not that of rank 0.
void compare(const CallFacts& of_rank, const CallFacts& of_first, int rank) {
  const std::string who = "rank " + std::to_string(rank) + "'s ";
  for (std::size_t k = 0; k < of_rank.size() && k < of_first.size(); ++k) {
    const auto& [name, value] = of_rank[k];
    if (name != of_first[k].first) break;
    if (value != of_first[k].second) {
      throw ProblemError(who + name, value, of_first[k].second + ", as on rank 0");
    }
  }
  if (of_rank.size() != of_first.size()) {
    throw ProblemError(who + "version of flashlab", "another", "that of rank 0");
  }
}

}  // namespace

CallFacts facts_of(std::string_view variant, const ShardedProblem& problem,
                   const ExecutionOptions& execution) {
  const AttentionProblem& whole = problem.whole;
  std::ostringstream scale;
  scale << std::hexfloat << whole.softmax_scale;
  return {{"variant", std::string(variant)},
          {"num_ranks", std::to_string(problem.shards.num_ranks)},
          {"sharding", std::string(to_string(problem.shards.sharding))},
          {"dtype", std::string(to_string(whole.dtype))},
          {"products", std::string(to_string(execution.products))},
          {"batch", std::to_string(whole.batch)},
          {"num_heads", std::to_string(whole.num_heads)},
          {"num_kv_heads", std::to_string(whole.num_kv_heads)},
          {"seqlen_q", std::to_string(whole.seqlen_q)},
          {"seqlen_k", std::to_string(whole.seqlen_k)},
          {"head_dim", std::to_string(whole.head_dim)},
          {"mask", std::string(to_string(whole.mask))},
          {"window_left", number_text(whole.window_left)},
          {"window_right", number_text(whole.window_right)},
          {"query_offset", std::to_string(whole.query_offset)},
          {"softmax_scale", scale.str()},
          {"key_lengths", all_text(whole.key_lengths)}};
}

void agree(Communicator& communicator, const std::function<CallFacts()>& make_facts) {
  CallFacts own;
  std::exception_ptr refusal;
  try {
    own = make_facts();
  } catch (const ProblemError& error) {
    own = {{kRefused, error.what()}};
    refusal = std::current_exception();
  }
  const std::vector<std::string> texts = communicator.gather(text_of(own));
  if (refusal) std::rethrow_exception(refusal);
  std::vector<CallFacts> all;
  for (const std::string& text : texts) all.push_back(facts_in(text));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].size() == 1 && all[rank].front().first == kRefused) {
      throw ProblemError("rank " + std::to_string(rank), all[rank].front().second,
                         "a call that every rank can make");
    }
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    compare(all[rank], all.front(), static_cast<int>(rank));
  }
}

}  // namespace flashlab::cuda
