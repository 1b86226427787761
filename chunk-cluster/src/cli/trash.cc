#include "cli/trash.h"

#include <chrono>
#include <ctime>
#include <vector>

namespace ebb::cli {

namespace {

constexpr std::uint32_t kTrashMode = 0700;
constexpr std::int64_t kMinuteMillis = 60'000;
constexpr std::size_t kDigitsOfTime = 12;
constexpr char kFileExists[] = "org.apache.hadoop.fs.FileAlreadyExistsException";
// The checkpoints of one second beside the first one, as in HDFS.
constexpr int kMostOfASecond = 1000;
// A checkpoint may come between the two calls that move an item, so that the second one fails.
constexpr int kAttempts = 2;

std::int64_t NowMillis() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

bool IsFileExists(const Error& error) { return error.exception_class == kFileExists; }

bool AreDigits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// yyMMddHHmmss, in the time zone of this machine.
std::string CheckpointName(std::time_t time) {
  std::tm local{};
  localtime_r(&time, &local);
  return fmt::format("{:02}{:02}{:02}{:02}{:02}{:02}", local.tm_year % 100, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

// When a checkpoint was made; nothing if the name is not that of a checkpoint.
std::optional<std::time_t> TimeOfCheckpoint(const std::string& name) {
  const std::string digits = name.substr(0, kDigitsOfTime);
  const std::string rest = name.substr(digits.size());
  if (digits.size() != kDigitsOfTime || !AreDigits(digits)) return std::nullopt;
  if (!rest.empty() && (rest[0] != '-' || !AreDigits(rest.substr(1)))) return std::nullopt;
  const auto two_digits = [&](std::size_t at) { return std::stoi(digits.substr(at, 2)); };
  std::tm local{};
  local.tm_year = 100 + two_digits(0);
  local.tm_mon = two_digits(2) - 1;
  local.tm_mday = two_digits(4);
  local.tm_hour = two_digits(6);
  local.tm_min = two_digits(8);
  local.tm_sec = two_digits(10);
  local.tm_isdst = -1;
  const std::time_t time = std::mktime(&local);
  // A month 13 became a January.
  if (CheckpointName(time) != digits) return std::nullopt;
  return time;
}

}  // namespace

Trash::Trash(Shell& shell, client::FileSystem& files)
    : shell_(shell),
      files_(files),
      root_("/user/" + files.namenode().user() + "/.Trash"),
      current_(root_ + "/Current") {}

Result<bool> Trash::Take(const Item& item) {
  EBB_ASSIGN(const auto minutes, Interval());
  if (minutes == 0 || (item.path + "/").starts_with(root_ + "/")) return false;
  if (root_.starts_with(item.path == "/" ? "/" : item.path + "/")) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("Cannot move \"{}\" to the trash, as it contains the trash", item.Uri()));
  }
  const auto moved = Move(item);
  if (!moved) {
    const auto& error = moved.error();
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("Failed to move {} to trash {}{}: {}. Consider using -skipTrash option",
                    item.Uri(), files_.uri(), current_ + item.path,
                    error.exception_message.empty() ? error.message : error.exception_message));
  }
  shell_.Tell(fmt::format("Moved: '{}' to trash at: {}{}", item.Uri(), files_.uri(), *moved));
  return true;
}

Result<std::int64_t> Trash::Interval() {
  if (!interval_) {
    EBB_ASSIGN(const auto defaults, files_.ServerDefaults());
    interval_ = static_cast<std::int64_t>(defaults.trashinterval());
    if (*interval_ == 0) {
      EBB_ASSIGN(interval_, shell_.configuration().Number("fs.trash.interval", 0));
    }
  }
  return *interval_;
}

Result<std::string> Trash::Move(const Item& item) {
  std::string directory = item.Parent() == "/" ? current_ : current_ + item.Parent();
  Status failure;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    EBB_ASSIGN(directory, MakeDirectory(directory));
    EBB_ASSIGN(auto to, FreeName(directory + "/" + item.Name()));
    failure = files_.Rename(item.path, to, false, true);
    if (failure) return to;
  }
  return std::unexpected(failure.error());
}

// If a file that was removed before has the name of the directory, the directory gets another one.
Result<std::string> Trash::MakeDirectory(const std::string& directory) {
  std::string made = directory;
  for (;;) {
    const auto status = files_.MakeDirectory(made, true, kTrashMode);
    if (status) return made;
    if (!IsFileExists(status.error())) return std::unexpected(status.error());
    made = directory + std::to_string(NowMillis());
  }
}

// The name, with the present time behind it if something has that name.
Result<std::string> Trash::FreeName(const std::string& name) {
  std::string free = name;
  for (;;) {
    EBB_ASSIGN(const auto present, files_.Stat(free));
    if (!present) return free;
    free = name + std::to_string(NowMillis());
  }
}

Status Trash::MakeCheckpoint() {
  EBB_ASSIGN(const auto present, files_.Stat(current_));
  if (!present) return {};
  const std::string first = root_ + "/" + CheckpointName(std::time(nullptr));
  std::string checkpoint = first;
  for (int other = 1;; ++other) {
    const auto renamed = files_.Rename(current_, checkpoint, false);
    if (renamed) break;
    if (!IsFileExists(renamed.error()) || other > kMostOfASecond) return renamed;
    checkpoint = fmt::format("{}-{}", first, other);
  }
  shell_.Tell("Created trash checkpoint: " + checkpoint);
  return {};
}

Status Trash::DeleteCheckpoints(bool all) {
  EBB_ASSIGN(const auto minutes, Interval());
  const std::int64_t oldest = NowMillis() - minutes * kMinuteMillis;
  std::vector<std::string> old;
  const auto listed = files_.List(root_, [&](std::vector<client::FileStatus>& batch) {
    for (const auto& entry : batch) {
      const auto time = TimeOfCheckpoint(entry.name);
      if (time && (all || std::int64_t{*time} * 1000 < oldest)) old.push_back(entry.name);
    }
    return true;
  });
  if (!listed && listed.error().code == ErrorCode::kNotFound) return {};
  EBB_TRY(listed);
  for (const auto& name : old) {
    const std::string checkpoint = root_ + "/" + name;
    const auto removed = files_.Remove(checkpoint, true);
    // As with 'hdfs dfs', the others have their turn.
    if (!removed) shell_.Complain(removed.error());
    if (removed && *removed) shell_.Tell("Deleted trash checkpoint: " + checkpoint);
  }
  return {};
}

}  // namespace ebb::cli
