// count, du, df
#include "cli/commands.h"
#include "cli/format.h"

namespace ebb::cli {

namespace {

using hadoop::hdfs::ContentSummaryProto;

// A quota and what is left of it.
std::pair<std::string, std::string> QuotaTexts(std::uint64_t quota, std::uint64_t used,
                                               bool human) {
  const auto most = static_cast<std::int64_t>(quota);
  if (most < 0) return {"none", "inf"};
  return {SizeText(most, human), SizeText(most - static_cast<std::int64_t>(used), human)};
}

std::string QuotaColumns(const std::pair<std::string, std::string>& names,
                         const std::pair<std::string, std::string>& space) {
  return fmt::format("{:>12} {:>15} {:>15} {:>15} ", names.first, names.second, space.first,
                     space.second);
}

std::string CountLine(const Item& item, const ContentSummaryProto& summary, const Words& words) {
  const bool human = words.Has("h");
  std::string line;
  if (words.Has("q") || words.Has("u")) {
    line += QuotaColumns(
        QuotaTexts(summary.quota(), summary.filecount() + summary.directorycount(), human),
        QuotaTexts(summary.spacequota(), summary.spaceconsumed(), human));
  }
  if (!words.Has("u")) {
    line += fmt::format("{:>12} {:>12} {:>18} ",
                        SizeText(static_cast<std::int64_t>(summary.directorycount()), human),
                        SizeText(static_cast<std::int64_t>(summary.filecount()), human),
                        SizeText(static_cast<std::int64_t>(summary.length()), human));
  }
  return line + item.text;
}

std::string CountHeader(const Words& words) {
  std::string line;
  if (words.Has("q") || words.Has("u")) {
    line += QuotaColumns({"QUOTA", "REM_QUOTA"}, {"SPACE_QUOTA", "REM_SPACE_QUOTA"});
  }
  if (!words.Has("u")) {
    line += fmt::format("{:>12} {:>12} {:>18} ", "DIR_COUNT", "FILE_COUNT", "CONTENT_SIZE");
  }
  return line + "PATHNAME";
}

// Like a count, but without a walk over the files.
Result<ContentSummaryProto> QuotaOnly(const Item& item) {
  EBB_ASSIGN(const auto usage, item.files->QuotaUsage(item.path));
  ContentSummaryProto summary;
  summary.set_quota(usage.quota());
  summary.set_spacequota(usage.spacequota());
  summary.set_spaceconsumed(usage.spaceconsumed());
  summary.set_filecount(usage.fileanddirectorycount());
  summary.set_directorycount(0);
  return summary;
}

}  // namespace

Result<int> RunCount(Shell& shell, Words words) {
  if (words.Has("v")) shell.Print("{}\n", CountHeader(words));
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    EBB_ASSIGN(const auto summary,
               words.Has("u") ? QuotaOnly(item) : item.files->ContentSummary(item.path));
    shell.Print("{}\n", CountLine(item, summary, words));
    return {};
  });
  return 0;
}

Result<int> RunDu(Shell& shell, Words words) {
  if (words.rest.empty()) words.rest.push_back(".");
  const bool human = words.Has("h");
  std::vector<std::vector<std::string>> rows;
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    std::vector<Item> items;
    if (item.IsDirectory() && !words.Has("s")) {
      EBB_ASSIGN(items, shell.Children(item));
    } else {
      items.push_back(item);
    }
    for (const auto& one : items) {
      auto summary = one.files->ContentSummary(one.path);
      if (!summary) {
        shell.Complain(summary.error());
        continue;
      }
      rows.push_back({SizeText(static_cast<std::int64_t>(summary->length()), human),
                      SizeText(static_cast<std::int64_t>(summary->spaceconsumed()), human),
                      one.text});
    }
    return {};
  });
  if (words.Has("v") && !rows.empty()) {
    rows.insert(rows.begin(), {"SIZE", "DISK_SPACE_CONSUMED_WITH_ALL_REPLICAS", "FULL_PATH_NAME"});
  }
  shell.Print("{}", TableText(rows));
  return 0;
}

Result<int> RunDf(Shell& shell, Words words) {
  if (words.rest.empty()) words.rest.push_back("/");
  const bool human = words.Has("h");
  std::vector<std::vector<std::string>> rows = {
      {"Filesystem", "Size", "Used", "Available", "Use%"}};
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    EBB_ASSIGN(const auto space, item.files->Capacity());
    const double part = space.capacity() == 0 ? 0
                                              : static_cast<double>(space.used()) /
                                                    static_cast<double>(space.capacity());
    rows.push_back({item.files->uri(), SizeText(static_cast<std::int64_t>(space.capacity()), human),
                    SizeText(static_cast<std::int64_t>(space.used()), human),
                    SizeText(static_cast<std::int64_t>(space.remaining()), human),
                    fmt::format("{:.0f}%", 100 * part)});
    return {};
  });
  if (rows.size() > 1) shell.Print("{}", TableText(rows, {1, 2, 3, 4}));
  return 0;
}

}  // namespace ebb::cli
