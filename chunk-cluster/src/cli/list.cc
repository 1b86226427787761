// ls
#include <algorithm>

#include "cli/commands.h"
#include "cli/format.h"

namespace ebb::cli {

namespace {

// The widths of columns are chosen for so many entries at a time.
constexpr std::size_t kGroup = 100;

class Lister {
 public:
  Lister(Shell& shell, const Words& words)
      : shell_(shell),
        paths_only_(words.Has("C")),
        human_(words.Has("h")),
        hide_(words.Has("q")),
        access_time_(words.Has("u")),
        recursive_(words.Has("R")),
        by_time_(words.Has("t")),
        by_size_(words.Has("S") && !by_time_),
        reverse_(words.Has("r")) {}

  Status ListDirectory(const Item& directory) {
    std::vector<Item> entries;
    if (recursive_ && !by_time_ && !by_size_ && !reverse_) {
      return directory.files->List(directory.path, [&](std::vector<client::FileStatus>& batch) {
        for (auto& status : batch) entries.push_back(ChildOf(directory, std::move(status)));
        ShowGroups(entries);
        return true;
      });
    }
    EBB_ASSIGN(entries, shell_.Children(directory));
    Sort(entries);
    if (!recursive_ && !entries.empty() && !paths_only_) {
      shell_.Print("Found {} items\n", entries.size());
    }
    if (recursive_) {
      ShowGroups(entries);
    } else {
      Show(entries);
    }
    return {};
  }

  void Show(const std::vector<Item>& items) {
    if (!paths_only_) Widen(items);
    for (const auto& item : items) {
      ShowOne(item);
      if (recursive_ && item.IsDirectory()) shell_.Complain(ListDirectory(item));
    }
  }

 private:
  void ShowGroups(std::vector<Item>& entries) {
    for (std::size_t at = 0; at < entries.size(); at += kGroup) {
      const auto begin = entries.begin() + static_cast<long>(at);
      const auto end = entries.begin() + static_cast<long>(std::min(entries.size(), at + kGroup));
      Show({begin, end});
    }
    entries.clear();
  }

  std::int64_t TimeOf(const Item& item) const {
    return access_time_ ? item.status->accessed_millis : item.status->modified_millis;
  }

  void Sort(std::vector<Item>& items) const {
    std::ranges::stable_sort(items, {}, &Item::path);
    const auto before = [&](const Item& a, const Item& b) {
      if (by_time_) return TimeOf(a) > TimeOf(b);
      if (by_size_) return a.status->length > b.status->length;
      return false;
    };
    std::ranges::stable_sort(items, before);
    if (reverse_) std::ranges::reverse(items);
  }

  void Widen(const std::vector<Item>& items) {
    for (const auto& item : items) {
      const auto& status = *item.status;
      copies_ = std::max(copies_, std::to_string(status.replication).size());
      length_ = std::max(length_, Length(status).size());
      owner_ = std::max(owner_, status.owner.size());
      group_ = std::max(group_, status.group.size());
    }
  }

  std::string Length(const client::FileStatus& status) const {
    return SizeText(static_cast<std::int64_t>(status.length), human_);
  }

  std::string Shown(std::string text) const {
    const auto hidden = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (hide_) std::ranges::replace_if(text, hidden, '?');
    return text;
  }

  void ShowOne(const Item& item) {
    if (paths_only_) return shell_.Print("{}\n", Shown(item.text));
    const auto& status = *item.status;
    shell_.Print("{}{}{}{:>{}} {:<{}} {:<{}} {:>{}} {} {}\n", item.IsDirectory() ? 'd' : '-',
                 client::ModeText(status.mode), status.has_acl ? '+' : ' ',
                 item.IsDirectory() ? "-" : std::to_string(status.replication), copies_,
                 status.owner, owner_, status.group, group_, Length(status), length_,
                 MinuteText(TimeOf(item)), Shown(item.text));
  }

  Shell& shell_;
  const bool paths_only_;
  const bool human_;
  const bool hide_;
  const bool access_time_;
  const bool recursive_;
  const bool by_time_;
  const bool by_size_;
  const bool reverse_;
  std::size_t copies_ = 3;
  std::size_t length_ = 10;
  std::size_t owner_ = 0;
  std::size_t group_ = 0;
};

}  // namespace

Result<int> RunLs(Shell& shell, Words words) {
  if (words.rest.empty()) words.rest.push_back(".");
  const bool plain = words.Has("d");
  Lister lister(shell, words);
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    if (item.IsDirectory() && !plain) return lister.ListDirectory(item);
    lister.Show({item});
    return {};
  });
  return 0;
}

}  // namespace ebb::cli
