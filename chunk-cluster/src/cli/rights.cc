// chmod, chown, chgrp
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/ordered_jobs.h"
#include "client/mode_change.h"

namespace ebb::cli {

namespace {

// The calls for a tree that run side by side.
constexpr std::size_t kThreads = 8;

using Change = std::function<Status(const Item&)>;

Status Explained(Status status, const char* what, const Item& item) {
  if (status) return status;
  const auto& error = status.error();
  const auto& cause = error.exception_message.empty() ? error.message : error.exception_message;
  return Fail(error.code, fmt::format("changing {} of '{}': {}", what, item.text, cause));
}

// Changes the item, and all that is below it. A directory is listed after its change, which may
// give or take the right to list it.
void ChangeTree(Shell& shell, OrderedJobs& jobs, const Item& item, const Change& change) {
  if (!item.IsDirectory()) return jobs.Run([item, &change] { return change(item); });
  if (!jobs.RunNow([&] { return change(item); })) return;
  std::vector<Item> children;
  const bool listed = jobs.RunNow([&]() -> Status {
    EBB_ASSIGN(children, shell.Children(item));
    return {};
  });
  if (!listed) return;
  for (const auto& child : children) ChangeTree(shell, jobs, child, change);
}

void ForEachOrBelow(Shell& shell, const Words& words, const Change& change) {
  if (!words.Has("R")) return shell.ForEachExisting(words.rest, change);
  const auto items = shell.ExpandAll(words.rest);
  OrderedJobs jobs(kThreads, [&](const Error& error) { shell.Complain(error); });
  for (const auto& item : items) {
    if (item.status) {
      ChangeTree(shell, jobs, item, change);
    } else {
      jobs.RunNow([&]() -> Status { return Refuse(item.text, kNoSuchFile); });
    }
  }
}

bool IsName(std::string_view text) {
  for (const char c : text) {
    const bool good =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-_./@").contains(c);
    if (!good) return false;
  }
  return true;
}

Result<int> ChangeOwner(Shell& shell, const Words& words, const std::string& owner,
                        const std::string& group) {
  ForEachOrBelow(shell, words, [&](const Item& item) -> Status {
    const std::string new_owner = owner == item.status->owner ? "" : owner;
    const std::string new_group = group == item.status->group ? "" : group;
    if (new_owner.empty() && new_group.empty()) return {};
    return Explained(item.files->SetOwner(item.path, new_owner, new_group), "ownership", item);
  });
  return 0;
}

}  // namespace

Result<int> RunChmod(Shell& shell, Words words) {
  const std::string text = words.rest[0];
  words.rest.erase(words.rest.begin());
  const auto change = client::ModeChange::Parse(text);
  if (!change) {
    return Misuse(fmt::format("chmod : mode '{}' does not match the expected pattern.", text));
  }
  ForEachOrBelow(shell, words, [&](const Item& item) -> Status {
    const auto mode = change->Apply(item.status->mode, item.IsDirectory());
    if (mode == item.status->mode) return {};
    return Explained(item.files->SetMode(item.path, mode), "permissions", item);
  });
  return 0;
}

Result<int> RunChown(Shell& shell, Words words) {
  const std::string text = words.rest[0];
  words.rest.erase(words.rest.begin());
  const auto colon = std::min(text.find(':'), text.size());
  const std::string owner = text.substr(0, colon);
  const std::string group = colon < text.size() ? text.substr(colon + 1) : "";
  if (!IsName(owner) || !IsName(group) || (owner.empty() && group.empty())) {
    return Misuse(fmt::format("'{}' does not match expected pattern for [owner][:group].", text));
  }
  return ChangeOwner(shell, words, owner, group);
}

Result<int> RunChgrp(Shell& shell, Words words) {
  const std::string group = words.rest[0];
  words.rest.erase(words.rest.begin());
  if (!IsName(group) || group.empty()) {
    return Misuse(fmt::format("'{}' does not match expected pattern for group", group));
  }
  return ChangeOwner(shell, words, "", group);
}

}  // namespace ebb::cli
