// What all commands of the file system shell share: the file systems, the paths of the command
// line, the output, and the count of errors.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/progress.h"
#include "client/configuration.h"
#include "client/file_system.h"
#include "common/error.h"

namespace ebb::cli {

// Bytes that a copy moves at a time.
inline constexpr std::size_t kCopyBytes = std::size_t{256} << 10;

// A path as the user wrote it, and what it stands for.
struct Item {
  std::string text;
  std::string path;
  client::FileSystem* files = nullptr;
  std::optional<client::FileStatus> status;

  [[nodiscard]] bool IsDirectory() const { return status && status->IsDirectory(); }
  [[nodiscard]] bool IsFile() const { return status && !status->IsDirectory(); }
  // The last part of the path; empty for the root.
  [[nodiscard]] std::string Name() const { return path.substr(path.rfind('/') + 1); }
  [[nodiscard]] std::string Parent() const;
  [[nodiscard]] std::string Uri() const { return files->uri() + path; }
  // With %20 for a blank, and so on: messages about missing directories show it so.
  [[nodiscard]] std::string EncodedUri() const;
};

// The item of an entry of a directory.
[[nodiscard]] Item ChildOf(const Item& directory, client::FileStatus status);
// The same for a name that may not exist.
[[nodiscard]] Item ChildOf(const Item& directory, const std::string& name);

// An error if the text is no UTF-8: a namenode would change it into another name.
[[nodiscard]] Status CheckUtf8(const std::string& text);

// "`PATH': WHAT", as an error.
[[nodiscard]] std::unexpected<Error> Refuse(const std::string& path, std::string_view what);
inline constexpr std::string_view kNoSuchFile = "No such file or directory";
inline constexpr std::string_view kExists = "File exists";
inline constexpr std::string_view kIsDirectory = "Is a directory";
inline constexpr std::string_view kIsNotDirectory = "Is not a directory";
inline constexpr std::string_view kFailed = "Input/output error";

// One thread at a time, except for Complain(), ComplainOf(), Tell() and progress().
class Shell {
 public:
  Shell(client::Configuration configuration, std::string command);

  // The item of a path, with its status, or without one if the path does not exist.
  [[nodiscard]] Result<Item> Look(const std::string& text);
  // The same without a question to the namenode.
  [[nodiscard]] Result<Item> Resolve(const std::string& text);
  [[nodiscard]] Status Refresh(Item& item);
  // The items that a pattern stands for, in order. A text without a match that is no pattern is one
  // item without a status; a pattern without a match is kNotFound. No other error has this code.
  [[nodiscard]] Result<std::vector<Item>> Expand(const std::string& text);
  // All entries of a directory.
  [[nodiscard]] Result<std::vector<Item>> Children(const Item& directory);

  // The items of all texts. Errors are told and counted.
  [[nodiscard]] std::vector<Item> ExpandAll(const std::vector<std::string>& texts);
  // Expands all texts, then calls `run` for each item. Errors are told and counted; the next item
  // follows.
  void ForEach(const std::vector<std::string>& texts, const std::function<Status(Item&)>& run);
  // The same for items that must exist.
  void ForEachExisting(const std::vector<std::string>& texts,
                       const std::function<Status(Item&)>& run);
  // The same for paths that are taken as they are: a `*` in them is a letter like any other.
  void ForEachNamed(const std::vector<std::string>& texts, const std::function<Status(Item&)>& run);
  // Calls `run` for the item, and for all that is below it. Errors are told and counted.
  void Walk(Item& item, const std::function<Status(Item&)>& run);

  template <typename... Arguments>
  void Print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::print(stdout, format, std::forward<Arguments>(arguments)...);
  }
  // Tells of the error, in the first line of its message, and counts it.
  void Complain(const Error& error);
  void Complain(const Status& status) {
    if (!status) Complain(status.error());
  }
  // The same for what `run` returns or throws.
  void ComplainOf(const std::function<Status()>& run);
  [[nodiscard]] Progress& progress() { return progress_; }
  // A line for the user that is no error.
  void Tell(std::string_view line);

  [[nodiscard]] int errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
  }
  [[nodiscard]] const client::Configuration& configuration() const { return configuration_; }

 private:
  [[nodiscard]] Result<client::FileSystem*> FilesOf(const std::string& authority);
  [[nodiscard]] Status Match(const Item& base, const std::vector<std::string>& parts,
                             std::vector<Item>& found);

  const client::Configuration configuration_;
  const std::string command_;
  const std::string user_;
  std::map<std::string, std::unique_ptr<client::FileSystem>> files_;
  Progress progress_;
  mutable std::mutex mutex_;
  int errors_ = 0;
};

// A command: its words after the name are `options`, then paths and values.
struct Words {
  std::vector<std::string> options;
  // Of the options that have a value.
  std::map<std::string, std::string> values;
  std::vector<std::string> rest;

  [[nodiscard]] bool Has(std::string_view option) const;
};

// A mistake of the command line: the command ends with its usage and 255.
[[nodiscard]] std::unexpected<Error> Misuse(std::string message);

struct Command {
  // Without the dash.
  const char* name;
  const char* usage;
  // Options, blank between them; those with a value end with '='. Null: the command takes its
  // options itself.
  const char* options;
  std::size_t least;
  std::size_t most;
  // The exit code unless there were errors, or the error of a misuse.
  Result<int> (*run)(Shell& shell, Words words);
};

}  // namespace ebb::cli
