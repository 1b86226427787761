#include "cli/shell.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "client/glob_pattern.h"
#include "client/path.h"
#include "client/text.h"

namespace ebb::cli {

namespace {

using client::Below;
using client::PartsOf;
using client::PathOf;

constexpr std::string_view kHdfs = "hdfs://";

// A path of the same kind as `like`: with a scheme, absolute, or relative to `home`.
std::string TextLike(const std::string& like, const Item& item, const std::string& home) {
  if (like.starts_with(kHdfs)) return item.Uri();
  if (like.starts_with('/')) return item.path;
  return item.path.starts_with(home + "/") ? item.path.substr(home.size() + 1) : item.path;
}

// Without an exception if nobody reads it.
void ToStandardError(const std::string& text) { (void)std::fputs(text.c_str(), stderr); }

}  // namespace

std::string Item::Parent() const {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string Item::EncodedUri() const {
  constexpr std::string_view kForbidden = " \"%<>[\\]^`{|}?#";
  std::string encoded = files->uri();
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || kForbidden.contains(c)) {
      encoded += fmt::format("%{:02X}", byte);
    } else {
      encoded += c;
    }
  }
  return encoded;
}

Item ChildOf(const Item& directory, client::FileStatus status) {
  Item child = ChildOf(directory, status.name);
  child.status = std::move(status);
  return child;
}

Item ChildOf(const Item& directory, const std::string& name) {
  return {.text = directory.text == "." ? name : Below(directory.text, name),
          .path = Below(directory.path, name),
          .files = directory.files,
          .status = std::nullopt};
}

Status CheckUtf8(const std::string& text) {
  if (client::IsUtf8(text)) return {};
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return Fail(
      ErrorCode::kUnsupported,
      fmt::format("`{}': the name is no UTF-8, as all names of HDFS are; rename it", shown));
}

std::unexpected<Error> Refuse(const std::string& path, std::string_view what) {
  return Fail(ErrorCode::kInvalid, fmt::format("`{}': {}", path, what));
}

Shell::Shell(client::Configuration configuration, std::string command)
    : configuration_(std::move(configuration)),
      command_(std::move(command)),
      user_(client::CurrentUser()),
      progress_(stderr, isatty(STDERR_FILENO) != 0) {}

Result<client::FileSystem*> Shell::FilesOf(const std::string& authority) {
  auto& files = files_[authority];
  if (!files) {
    EBB_ASSIGN(files, client::FileSystem::Open(configuration_, authority));
  }
  return files.get();
}

Result<Item> Shell::Resolve(const std::string& text) {
  if (text.empty()) return Misuse("Can not create a Path from an empty string");
  EBB_TRY(CheckUtf8(text));
  Item item{.text = text, .path = text, .files = nullptr, .status = std::nullopt};
  std::string authority;
  if (text.starts_with("hdfs:/")) {
    const std::string rest = text.substr(text.starts_with(kHdfs) ? kHdfs.size() : 5);
    const auto slash = std::min(rest.find('/'), rest.size());
    authority = rest.substr(0, slash);
    item.path = rest.substr(slash);
  } else if (text.starts_with("file:") || text.find("://") != std::string::npos) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("'{}' is no path of HDFS; use 'hdfs dfs' for other file systems", text));
  } else if (!text.starts_with('/')) {
    item.path = "/user/" + user_ + "/" + text;
  }
  if (authority.empty()) {
    EBB_ASSIGN(authority, client::DefaultAuthority(configuration_));
  }
  EBB_ASSIGN(item.files, FilesOf(authority));
  item.path = PathOf(PartsOf(item.path));
  return item;
}

Result<Item> Shell::Look(const std::string& text) {
  EBB_ASSIGN(auto item, Resolve(text));
  EBB_TRY(Refresh(item));
  return item;
}

Status Shell::Refresh(Item& item) {
  EBB_ASSIGN(item.status, item.files->Stat(item.path));
  return {};
}

Result<std::vector<Item>> Shell::Children(const Item& directory) {
  std::vector<Item> children;
  EBB_TRY(directory.files->List(directory.path, [&](std::vector<client::FileStatus>& batch) {
    for (auto& status : batch) children.push_back(ChildOf(directory, std::move(status)));
    return true;
  }));
  return children;
}

Result<std::vector<Item>> Shell::Expand(const std::string& text) {
  if (!client::IsPattern(text)) {
    EBB_ASSIGN(auto item, Look(text));
    return std::vector<Item>{std::move(item)};
  }
  EBB_ASSIGN(const auto patterns, client::ExpandBraces(text));
  std::vector<Item> found;
  for (const auto& pattern : patterns) {
    EBB_ASSIGN(const auto item, Resolve(pattern));
    EBB_ASSIGN(auto root, Look(item.files->uri() + "/"));
    EBB_TRY(Match(root, PartsOf(item.path), found));
  }
  if (found.empty() && !client::HasWildcard(text)) {
    // Only quotes: a name that does not exist yet.
    EBB_ASSIGN(auto item, Look(client::Unquoted(text)));
    return std::vector<Item>{std::move(item)};
  }
  if (found.empty()) {
    return Fail(ErrorCode::kNotFound, fmt::format("`{}': {}", text, kNoSuchFile));
  }
  for (auto& item : found) item.text = TextLike(text, item, "/user/" + user_);
  std::ranges::sort(found, {}, &Item::path);
  const auto repeated = std::ranges::unique(found, {}, &Item::path);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

// Names without a pattern are not looked up on the way: a listing below them, or the last name,
// tells whether they exist.
Status Shell::Match(const Item& base, const std::vector<std::string>& parts,
                    std::vector<Item>& found) {
  if (parts.empty()) {
    Item item = base;
    if (!item.status) EBB_TRY(Refresh(item));
    if (item.status) found.push_back(std::move(item));
    return {};
  }
  const std::vector<std::string> rest(parts.begin() + 1, parts.end());
  if (!client::IsPattern(parts[0])) return Match(ChildOf(base, parts[0]), rest, found);
  if (base.IsFile()) return {};
  const auto children = Children(base);
  if (!children && children.error().code == ErrorCode::kNotFound) return {};
  if (!children) return std::unexpected(children.error());
  for (const auto& child : *children) {
    // The listing of a file is the file itself, without a name.
    if (child.status->name.empty()) continue;
    if (!rest.empty() && !child.IsDirectory()) continue;
    if (client::Matches(parts[0], child.Name())) EBB_TRY(Match(child, rest, found));
  }
  return {};
}

std::vector<Item> Shell::ExpandAll(const std::vector<std::string>& texts) {
  std::vector<Item> all;
  for (const auto& text : texts) {
    auto items = Expand(text);
    if (!items) {
      Complain(items.error());
      continue;
    }
    std::ranges::move(*items, std::back_inserter(all));
  }
  return all;
}

void Shell::ForEach(const std::vector<std::string>& texts,
                    const std::function<Status(Item&)>& run) {
  auto all = ExpandAll(texts);
  for (auto& item : all) Complain(run(item));
}

void Shell::ForEachExisting(const std::vector<std::string>& texts,
                            const std::function<Status(Item&)>& run) {
  ForEach(texts, [&](Item& item) -> Status {
    if (!item.status) return Refuse(item.text, kNoSuchFile);
    return run(item);
  });
}

void Shell::ForEachNamed(const std::vector<std::string>& texts,
                         const std::function<Status(Item&)>& run) {
  for (const auto& text : texts) {
    auto item = Look(text);
    if (!item) {
      Complain(item.error());
    } else if (!item->status) {
      Complain(Refuse(item->text, kNoSuchFile));
    } else {
      Complain(run(*item));
    }
  }
}

void Shell::Walk(Item& item, const std::function<Status(Item&)>& run) {
  const auto status = run(item);
  if (!status) return Complain(status.error());
  if (!item.IsDirectory()) return;
  auto children = Children(item);
  if (!children) return Complain(children.error());
  for (auto& child : *children) Walk(child, run);
}

void Shell::Complain(const Error& error) {
  const std::lock_guard lock(mutex_);
  progress_.Clear();
  std::fflush(stdout);
  const std::string& message =
      error.exception_message.empty() ? error.message : error.exception_message;
  ToStandardError(fmt::format("{}: {}\n", command_, message.substr(0, message.find('\n'))));
  ++errors_;
}

void Shell::ComplainOf(const std::function<Status()>& run) {
  try {
    Complain(run());
  } catch (const std::exception& error) {  // no memory, or no thread
    Complain(Error{ErrorCode::kBusy, error.what()});
  }
}

void Shell::Tell(std::string_view line) {
  const std::lock_guard lock(mutex_);
  progress_.Clear();
  std::fflush(stdout);
  ToStandardError(fmt::format("{}\n", line));
}

bool Words::Has(std::string_view option) const {
  return std::ranges::find(options, option) != options.end();
}

std::unexpected<Error> Misuse(std::string message) {
  // A misuse has no exception; its class marks it for the main program.
  return std::unexpected(Error{ErrorCode::kInvalid, std::move(message), "misuse"});
}

}  // namespace ebb::cli
