// rm, with the trash
#include <chrono>

#include "cli/commands.h"

namespace ebb::cli {

namespace {

constexpr std::uint32_t kTrashMode = 0700;

// Moves the files that a command removes into /user/USER/.Trash/Current, if the namenode or the configuration has an
// interval for the trash.
class Trash {
 public:
  // False if there is no trash, or if the item lies in it: the caller deletes.
  static Result<bool> Take(Shell& shell, const Item& item) {
    EBB_ASSIGN(const bool enabled, Enabled(shell, item));
    const std::string root = "/user/" + item.files->namenode().user() + "/.Trash";
    if (!enabled || (item.path + "/").starts_with(root + "/")) return false;
    if (root.starts_with(item.path == "/" ? "/" : item.path + "/")) {
      return Fail(
          ErrorCode::kInvalid,
          fmt::format("Cannot move \"{}\" to the trash, as it contains the trash", item.Uri()));
    }
    auto moved = Move(item, root + "/Current");
    if (!moved) {
      const auto& error = moved.error();
      return Fail(
          ErrorCode::kInvalid,
          fmt::format("Failed to move to trash: {}: {}. Consider using -skipTrash option",
                      item.Uri(),
                      error.exception_message.empty() ? error.message : error.exception_message));
    }
    shell.Tell(fmt::format("Moved: '{}' to trash at: {}{}", item.Uri(), item.files->uri(), *moved));
    return true;
  }

 private:
  static Result<bool> Enabled(Shell& shell, const Item& item) {
    EBB_ASSIGN(const auto defaults, item.files->ServerDefaults());
    if (defaults.trashinterval() > 0) return true;
    EBB_ASSIGN(const auto minutes, shell.configuration().Number("fs.trash.interval", 0));
    return minutes > 0;
  }

  // Where the item is now.
  static Result<std::string> Move(const Item& item, const std::string& current) {
    std::string to = current + item.path;
    EBB_TRY(item.files->MakeDirectory(to.substr(0, to.rfind('/')), true, kTrashMode));
    EBB_ASSIGN(const auto present, item.files->Stat(to));
    if (present) {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      to += std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    }
    EBB_TRY(item.files->Rename(item.path, to, false, true));
    return to;
  }
};

}  // namespace

Result<int> RunRm(Shell& shell, Words words) {
  const bool recursive = words.Has("r") || words.Has("R");
  const bool force = words.Has("f");
  std::vector<std::string> texts;
  for (const auto& text : words.rest) {
    // With -f, a pattern without a match is no error.
    auto items = shell.Expand(text);
    if (items) {
      texts.push_back(text);
    } else if (!force || items.error().code != ErrorCode::kNotFound) {
      shell.Complain(items.error());
    }
  }
  shell.ForEach(texts, [&](Item& item) -> Status {
    if (!item.status) return force ? Status() : Refuse(item.text, kNoSuchFile);
    if (item.IsDirectory() && !recursive) return Refuse(item.text, kIsDirectory);
    if (!words.Has("skipTrash")) {
      EBB_ASSIGN(const bool taken, Trash::Take(shell, item));
      if (taken) return {};
    }
    EBB_ASSIGN(const bool removed, item.files->Remove(item.path, recursive));
    if (!removed) return Refuse(item.text, kFailed);
    shell.Print("Deleted {}\n", item.text);
    return {};
  });
  return 0;
}

}  // namespace ebb::cli
