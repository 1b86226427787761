#include "data_tool/requests.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "data_tool/url_coding.h"

namespace ebb::data_tool {

namespace {

using Fields = std::vector<std::string>;

std::vector<std::string_view> Split(std::string_view line) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto tab = line.find('\t');
    parts.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return parts;
    line.remove_prefix(tab + 1);
  }
}

// The fields of a request behind its verb. The first mistake is kept, so that all fields can be
// taken before it is looked at.
class Arguments {
 public:
  Arguments(std::string_view verb, Fields fields) : verb_(verb), fields_(std::move(fields)) {}

  std::string Text() {
    if (at_ < fields_.size()) return fields_[at_++];
    Refuse("too few fields");
    return {};
  }

  template <typename Number = std::size_t>
  Number Whole(Number least = 0) {
    const std::string text = Text();
    Number number = least;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least) {
      Refuse(fmt::format("'{}' is no number from {} on", text, least));
      return least;
    }
    return number;
  }

  FileSet Set() {
    FileSet set;
    set.prefix = Text();
    if (!set.prefix.starts_with('/')) Refuse(fmt::format("'{}' is no absolute path", set.prefix));
    set.count = Whole<std::size_t>(1);
    set.bytes = Whole<std::uint64_t>();
    return set;
  }

  // kInvalid with the first mistake.
  [[nodiscard]] Status End() const {
    if (!mistake_.empty()) return Fail(ErrorCode::kInvalid, mistake_);
    return {};
  }

 private:
  void Refuse(const std::string& what) {
    if (mistake_.empty()) mistake_ = fmt::format("request {}: {}", verb_, what);
  }

  const std::string verb_;
  const Fields fields_;
  std::size_t at_ = 0;
  std::string mistake_;
};

Result<Fields> TextOf(const Result<Timing>& timing) {
  if (!timing) return std::unexpected(timing.error());
  return Fields{std::to_string(timing->micros), std::to_string(timing->median_micros)};
}

Result<Fields> Write(const Files& files, Arguments& arguments) {
  const FileSet set = arguments.Set();
  const auto replication = arguments.Whole<std::uint32_t>(1);
  const auto threads = arguments.Whole(1);
  EBB_TRY(arguments.End());
  return TextOf(files.Write(set, replication, threads));
}

Result<Fields> Read(const Files& files, Arguments& arguments) {
  const FileSet set = arguments.Set();
  const auto threads = arguments.Whole(1);
  EBB_TRY(arguments.End());
  return TextOf(files.Read(set, threads));
}

Result<Fields> Begin(const Files& files, Arguments& arguments) {
  const FileSet set = arguments.Set();
  EBB_TRY(arguments.End());
  return TextOf(files.ReadBegin(set));
}

Result<Fields> First(const Files& files, Arguments& arguments) {
  FileSet set = arguments.Set();
  EBB_TRY(arguments.End());
  set.bytes = 1;
  return TextOf(files.ReadBegin(set));
}

Result<Fields> ReadParts(const Files& files, Arguments& arguments) {
  const FileSet set = arguments.Set();
  const auto threads = arguments.Whole(1);
  RandomReads reads;
  reads.length = arguments.Whole(1);
  reads.count = arguments.Whole(1);
  reads.seed = arguments.Whole<std::int64_t>(std::numeric_limits<std::int64_t>::min());
  EBB_TRY(arguments.End());
  return TextOf(files.ReadParts(set, threads, reads));
}

Result<Fields> MakeDirectory(const Files& files, Arguments& arguments) {
  const std::string path = arguments.Text();
  const std::string policy = arguments.Text();
  EBB_TRY(arguments.End());
  EBB_TRY(files.MakeDirectory(path, policy));
  return Fields{};
}

Result<Fields> Delete(const Files& files, Arguments& arguments) {
  const std::string path = arguments.Text();
  EBB_TRY(arguments.End());
  EBB_TRY(files.Remove(path));
  return Fields{};
}

Result<Fields> Execute(const Files& files, std::string_view verb, Arguments arguments) {
  if (verb == "write") return Write(files, arguments);
  if (verb == "read") return Read(files, arguments);
  if (verb == "begin") return Begin(files, arguments);
  if (verb == "first") return First(files, arguments);
  if (verb == "pread") return ReadParts(files, arguments);
  if (verb == "mkdirs") return MakeDirectory(files, arguments);
  if (verb == "delete") return Delete(files, arguments);
  return Fail(ErrorCode::kUnsupported, fmt::format("unknown request {}", verb));
}

std::string LineOf(std::string_view id, std::string_view kind, const Fields& fields) {
  std::string line = fmt::format("{}\t{}", id, kind);
  for (const std::string& field : fields) line += "\t" + UrlEncoded(field);
  return line;
}

}  // namespace

std::string Answer(const Files& files, std::string_view line) {
  const auto parts = Split(line);
  const std::string_view verb = parts.size() > 1 ? parts[1] : "";
  Fields fields;
  for (std::size_t i = 2; i < parts.size(); ++i) fields.push_back(UrlDecoded(parts[i]));
  const auto done = Execute(files, verb, Arguments(verb, std::move(fields)));
  return done ? LineOf(parts[0], "ok", *done) : LineOf(parts[0], "error", {done.error().message});
}

}  // namespace ebb::data_tool
