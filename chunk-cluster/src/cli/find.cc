// find
#include <algorithm>
#include <functional>

#include "cli/commands.h"
#include "client/glob_pattern.h"
#include "client/text.h"

namespace ebb::cli {

namespace {

// A step of an expression. The next one runs if it returns true.
using Step = std::function<Result<bool>(const Item&)>;

Result<Step> NameStep(const std::string& pattern, bool any_case) {
  EBB_ASSIGN(auto patterns, client::ExpandBraces(any_case ? client::LowerCase(pattern) : pattern));
  return [patterns = std::move(patterns), any_case](const Item& item) -> Result<bool> {
    const std::string name = any_case ? client::LowerCase(item.Name()) : item.Name();
    return std::ranges::any_of(patterns,
                               [&](const auto& one) { return client::Matches(one, name); });
  };
}

Step PrintStep(Shell& shell, const char* end) {
  return [&shell, end = std::string_view(end, 1)](const Item& item) -> Result<bool> {
    shell.Print("{}{}", item.text, end);
    return true;
  };
}

// The words of an expression: all its steps must hold, with or without -a between them. An
// expression that prints nothing prints what passes.
Result<std::vector<Step>> ParseExpression(Shell& shell, const std::vector<std::string>& words) {
  std::vector<Step> steps;
  bool prints = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "-a" || word == "-and") continue;
    if (word == "-print" || word == "-print0") {
      steps.push_back(PrintStep(shell, word == "-print" ? "\n" : "\0"));
      prints = true;
    } else if ((word == "-name" || word == "-iname") && at + 1 < words.size()) {
      EBB_ASSIGN(auto step, NameStep(words[++at], word == "-iname"));
      steps.push_back(std::move(step));
    } else {
      return Fail(ErrorCode::kInvalid, fmt::format("Unexpected argument: {}", word));
    }
  }
  if (!prints) steps.push_back(PrintStep(shell, "\n"));
  return steps;
}

}  // namespace

Result<int> RunFind(Shell& shell, Words words) {
  auto& rest = words.rest;
  // There are no symbolic links to follow.
  std::erase_if(rest, [](const auto& word) { return word == "-L" || word == "-H"; });
  const auto first = std::ranges::find_if(rest, [](auto& word) { return word.starts_with('-'); });
  EBB_ASSIGN(const auto steps, ParseExpression(shell, {first, rest.end()}));
  rest.erase(first, rest.end());
  if (rest.empty()) rest.emplace_back(".");
  shell.ForEachExisting(rest, [&](Item& item) -> Status {
    shell.Walk(item, [&](Item& one) -> Status {
      for (const auto& step : steps) {
        EBB_ASSIGN(const bool holds, step(one));
        if (!holds) break;
      }
      return {};
    });
    return {};
  });
  return 0;
}

}  // namespace ebb::cli
