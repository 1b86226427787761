// getmerge, concat, truncate
#include <charconv>
#include <chrono>
#include <filesystem>
#include <thread>

#include "cli/commands.h"
#include "cli/local_file.h"

namespace ebb::cli {

namespace {

constexpr std::byte kNewLine[] = {std::byte{'\n'}};
// How often -truncate -w looks whether the last block has its new length.
constexpr std::chrono::milliseconds kLookInterval(200);

Status AppendTo(LocalFile& to, const Item& item) {
  EBB_ASSIGN(const auto in, item.files->OpenFile(item.path));
  for (;;) {
    EBB_ASSIGN(const auto bytes, in->Next(kCopyBytes));
    if (bytes.empty()) return {};
    EBB_TRY(to.Write(bytes));
  }
}

// The files that are named, and those that are directly in a directory that is named.
std::vector<Item> FilesOf(Shell& shell, const std::vector<std::string>& texts) {
  std::vector<Item> files;
  shell.ForEachExisting(texts, [&](Item& item) -> Status {
    if (item.IsFile()) {
      files.push_back(std::move(item));
      return {};
    }
    EBB_ASSIGN(auto children, shell.Children(item));
    for (auto& child : children) {
      if (child.IsFile()) files.push_back(std::move(child));
    }
    return {};
  });
  return files;
}

Result<std::uint64_t> ParseLength(Shell& shell, const std::string& text) {
  std::int64_t length = 0;
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, length);
  if (error != std::errc() || at != end) {
    shell.Tell("truncate: Illegal length, a non-negative integer expected");
    return Misuse(fmt::format("For input string: \"{}\"", text));
  }
  if (length < 0) return Misuse("length must be >= 0");
  return static_cast<std::uint64_t>(length);
}

Status AwaitLength(Shell& shell, Item& item, std::uint64_t length) {
  shell.Print("Waiting for {} ...\n", item.text);
  std::fflush(stdout);
  for (;;) {
    EBB_TRY(shell.Refresh(item));
    if (!item.status) return Refuse(item.text, kNoSuchFile);
    if (item.status->length == length) break;
    std::this_thread::sleep_for(kLookInterval);
  }
  shell.Print("Truncated {} to length: {}\n", item.text, length);
  return {};
}

}  // namespace

Result<int> RunGetmerge(Shell& shell, Words words) {
  const std::string text = words.rest.back();
  words.rest.pop_back();
  const std::string target = LocalPath(text);
  std::error_code error;
  if (std::filesystem::is_directory(target, error)) return Refuse(text, kIsDirectory);
  const auto files = FilesOf(shell, words.rest);
  // A file that is missing must not end in a merged file that lacks it.
  if (shell.errors() > 0) return 1;
  EBB_ASSIGN(auto to, LocalFile::Create(target));
  for (const auto& file : files) {
    if (file.status->length > 0) EBB_TRY(AppendTo(to, file));
    const bool ends_line = file.status->length > 0 || !words.Has("skip-empty-file");
    if (words.Has("nl") && ends_line) EBB_TRY(to.Write(kNewLine));
  }
  EBB_TRY(to.Close());
  return 0;
}

Result<int> RunConcat(Shell& shell, Words words) {
  auto items = shell.ExpandAll(words.rest);
  if (items.size() < 3) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}. <target path> <src path> <src path> ...",
                            items.empty() ? "Target path not specified"
                                          : "The number of source paths is less than 2"));
  }
  if (!items[0].IsFile()) {
    return Fail(ErrorCode::kNotFound, fmt::format("Target path {} does not exist or is not file.",
                                                  items[0].Uri()));
  }
  std::vector<std::string> sources;
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!items[i].IsFile() || items[i].files != items[0].files) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("{} does not exist or is not file.", items[i].Uri()));
    }
    sources.push_back(items[i].path);
  }
  // A source that is missing must not end in a file that lacks it.
  if (shell.errors() > 0) return 1;
  EBB_TRY(items[0].files->Concat(items[0].path, sources));
  return 0;
}

Result<int> RunTruncate(Shell& shell, Words words) {
  EBB_ASSIGN(const std::uint64_t length, ParseLength(shell, words.rest[0]));
  words.rest.erase(words.rest.begin());
  std::vector<Item> under_way;
  for (auto& item : shell.ExpandAll(words.rest)) {
    if (!item.status || item.IsDirectory()) {
      shell.Complain(Refuse(item.text, item.status ? kIsDirectory : kNoSuchFile).error());
      continue;
    }
    if (length > item.status->length) {
      return Misuse(fmt::format("Cannot truncate to a larger file size. Current size: {}, truncate "
                                "size: {}.",
                                item.status->length, length));
    }
    const auto done = item.files->Truncate(item.path, length);
    if (!done) {
      shell.Complain(done.error());
    } else if (*done) {
      shell.Print("Truncated {} to length: {}\n", item.text, length);
    } else if (words.Has("w")) {
      under_way.push_back(std::move(item));
    } else {
      shell.Print("Truncating {} to length: {}. Wait for block recovery to complete before further "
                  "updating this file.\n",
                  item.text, length);
    }
  }
  for (auto& item : under_way) shell.Complain(AwaitLength(shell, item, length));
  return 0;
}

}  // namespace ebb::cli
