// touch, touchz
#include <chrono>
#include <ctime>

#include "cli/commands.h"
#include "cli/destination.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kTimeLength = 15;  // of "yyyyMMdd:HHmmss"

Result<std::int64_t> ParseTime(const std::string& text) {
  std::tm parts = {};
  const char* end = strptime(text.c_str(), "%Y%m%d:%H%M%S", &parts);
  parts.tm_isdst = -1;
  if (text.size() != kTimeLength || end != text.c_str() + text.size()) {
    return Misuse(
        fmt::format("Unable to parse the specified timestamp {}; write yyyyMMdd:HHmmss", text));
  }
  return static_cast<std::int64_t>(std::mktime(&parts)) * 1000;
}

std::int64_t Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// An error unless a file of this name may be made.
Status CheckPlace(Shell& shell, const Item& item) {
  EBB_ASSIGN(const auto parent, shell.Look(item.files->uri() + item.Parent()));
  if (parent.status && (item.status || !NamesDirectory(item.text))) return {};
  return Refuse(item.text, fmt::format("{}: `{}'", kNoSuchFile, item.EncodedUri()));
}

Status CreateEmpty(const Item& item) {
  // A file that has got the name meanwhile stays.
  EBB_ASSIGN(auto stream, item.files->Create(item.path, {.overwrite = item.status.has_value()}));
  return stream->Close();
}

}  // namespace

Result<int> RunTouchz(Shell& shell, Words words) {
  shell.ForEach(words.rest, [&](Item& item) -> Status {
    if (item.IsDirectory()) return Refuse(item.text, kIsDirectory);
    if (item.status && item.status->length > 0) {
      return Refuse(item.text, "Not a zero-length file");
    }
    EBB_TRY(CheckPlace(shell, item));
    return CreateEmpty(item);
  });
  return 0;
}

Result<int> RunTouch(Shell& shell, Words words) {
  bool access = false;
  bool modification = false;
  bool create = true;
  std::int64_t time = Now();
  while (!words.rest.empty() && words.rest[0].starts_with('-')) {
    const std::string option = words.rest[0];
    words.rest.erase(words.rest.begin());
    if (option == "-t" && !words.rest.empty()) {
      EBB_ASSIGN(time, ParseTime(words.rest[0]));
      words.rest.erase(words.rest.begin());
    } else if (option == "-a") {
      access = true;
    } else if (option == "-m") {
      modification = true;
    } else if (option == "-c") {
      create = false;
    } else {
      return Misuse("Illegal option " + option);
    }
  }
  if (words.rest.empty()) return Misuse("Not enough arguments: expected 1 but got 0");
  const bool both = access == modification;
  shell.ForEach(words.rest, [&](Item& item) -> Status {
    if (!item.status) {
      EBB_TRY(CheckPlace(shell, item));
      if (!create) return {};
      EBB_TRY(CreateEmpty(item));
    }
    return item.files->SetTimes(item.path, both || modification ? time : -1,
                                both || access ? time : -1);
  });
  return 0;
}

}  // namespace ebb::cli
