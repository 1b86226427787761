// chmod, chown, chgrp
#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/commands.h"
#include "client/mode_change.h"

namespace ebb::cli {

namespace {

Status Explained(Status status, const char* what, const Item& item) {
  if (status) return status;
  const auto& error = status.error();
  const auto& cause = error.exception_message.empty() ? error.message : error.exception_message;
  return Fail(error.code, fmt::format("changing {} of '{}': {}", what, item.text, cause));
}

void ForEachOrBelow(Shell& shell, const Words& words, const std::function<Status(Item&)>& run) {
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    if (!words.Has("R")) return run(item);
    shell.Walk(item, run);
    return {};
  });
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
  ForEachOrBelow(shell, words, [&](Item& item) -> Status {
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
  ForEachOrBelow(shell, words, [&](Item& item) -> Status {
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
