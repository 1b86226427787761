#include "metadata_load/requests.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "metadata_load/filled_tree.h"
#include "metadata_load/workers.h"

namespace ebb::metadata_load {

namespace {

constexpr auto kDone = R"({"ok":true})";

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string Json(const Measurement& m) {
  const auto millis = [&](double q) {
    return static_cast<double>(m.latencies.QuantileNanos(q)) / 1e6;
  };
  return fmt::format(
      R"({{"operations":{},"failures":{},"firstFailure":{},"seconds":{:.6f},)"
      R"("serverCpuMicros":{},"serverKernelMicros":{},"clientCpuMicros":{},"p50Millis":{:.4f},)"
      R"("p99Millis":{:.4f},"p999Millis":{:.4f}}})",
      m.operations, m.failures, Quoted(m.first_failure), m.seconds, m.server_cpu.all,
      m.server_cpu.kernel, m.client_cpu_micros, millis(0.5), millis(0.99), millis(0.999));
}

// The words of a request after its verb.
class Words {
 public:
  explicit Words(const std::string& text) : in_(text) {}

  template <typename T>
  T Next() {
    T value = {};
    if (!(in_ >> value)) bad_ = true;
    return value;
  }
  template <typename T>
  T NextOr(T otherwise) {
    T value = {};
    return in_ >> value ? value : otherwise;
  }
  std::chrono::nanoseconds Seconds() {
    const auto seconds = Next<double>();
    if (seconds <= 0) bad_ = true;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }
  FilledTree Tree() {
    FilledTree tree;
    tree.directory = Next<std::string>();
    tree.files = Next<std::size_t>();
    tree.per_directory = Next<std::size_t>();
    return tree;
  }
  // To be asked after the last word.
  [[nodiscard]] Status Complete() {
    std::string more;
    in_.clear();
    if (!bad_ && !(in_ >> more)) return {};
    return Fail(ErrorCode::kInvalid, "the words are missing, too many, or no positive numbers");
  }

 private:
  std::istringstream in_;
  bool bad_ = false;
};

using Handler = std::function<Result<std::string>(LoadLoop&, Rows&, Words&)>;

Result<std::string> Prepare(LoadLoop&, Rows& rows, Words& words) {
  EBB_TRY(words.Complete());
  EBB_TRY(rows.Prepare());
  return kDone;
}

Result<std::string> Remove(LoadLoop&, Rows& rows, Words& words) {
  EBB_TRY(words.Complete());
  EBB_TRY(rows.Remove());
  return kDone;
}

Result<std::string> Run(LoadLoop&, Rows& rows, Words& words) {
  const auto row = words.Next<std::string>();
  const auto window = words.Seconds();
  EBB_TRY(words.Complete());
  EBB_ASSIGN(const Measurement measured, rows.Run(row, window));
  return Json(measured);
}

Result<std::string> RunPaced(LoadLoop&, Rows& rows, Words& words) {
  const auto row = words.Next<std::string>();
  const auto rate = words.Next<double>();
  const auto window = words.Seconds();
  EBB_TRY(words.Complete());
  EBB_ASSIGN(const Measurement measured, rows.RunAtRate(row, rate, window));
  return Json(measured);
}

Result<std::string> BesideDeletes(LoadLoop& loop, Rows& rows, Words& words) {
  const auto rate = words.Next<double>();
  const auto deletes = words.Next<double>();
  const auto window = words.Seconds();
  EBB_TRY(words.Complete());
  if (loop.connections() < 2) return Fail(ErrorCode::kInvalid, "it needs 2 connections or more");
  EBB_ASSIGN(const auto measured, rows.StatBesideDeletes(rate, deletes, window));
  return fmt::format(R"({{"stats":{},"deletes":{}}})", Json(measured[0]), Json(measured[1]));
}

Result<std::string> FillTree(LoadLoop& loop, Rows&, Words& words) {
  const FilledTree tree = words.Tree();
  const auto content = words.Next<std::string>();
  const auto from = words.NextOr<std::size_t>(0);
  EBB_TRY(words.Complete());
  EBB_TRY(Fill(loop, tree, from, content == "data"));
  return kDone;
}

Result<std::string> StatOnce(LoadLoop& loop, Rows&, Words& words) {
  const auto path = words.Next<std::string>();
  EBB_TRY(words.Complete());
  Group group;
  for (std::size_t i = 0; i < loop.connections(); ++i) {
    group.workers.push_back(CallWorker::Once({GetFileInfo(path)}, AtLeast(kStatusBytes)));
  }
  EBB_ASSIGN(const Measurement done, loop.Run(group, std::nullopt));
  return Json(done);
}

Result<std::string> StatFilled(LoadLoop& loop, Rows&, Words& words) {
  const FilledTree tree = words.Tree();
  const auto window = words.Seconds();
  EBB_TRY(words.Complete());
  EBB_ASSIGN(const Measurement measured, StatTree(loop, tree, window));
  return Json(measured);
}

Result<std::string> Floor(LoadLoop& loop, Rows&, Words& words) {
  const auto window = words.Seconds();
  EBB_TRY(words.Complete());
  Group group;
  for (std::size_t i = 0; i < loop.connections(); ++i) {
    group.workers.push_back(std::make_unique<EndlessStatWorker>());
  }
  EBB_ASSIGN(const Measurement measured, loop.Run(group, window));
  return Json(measured);
}

Result<std::string> Timed(LoadLoop& loop, Rows& rows, Words& words, Call call, AnswerCheck check) {
  const auto rate = words.Next<double>();
  const auto tail = std::chrono::duration_cast<std::chrono::milliseconds>(words.Seconds());
  EBB_TRY(words.Complete());
  if (loop.connections() < 2) return Fail(ErrorCode::kInvalid, "it needs 2 connections or more");
  EBB_ASSIGN(const Rows::Timed timed,
             rows.RunBesideMix(std::move(call), std::move(check), rate, tail));
  return fmt::format(R"({{"answeredAfterSeconds":{:.6f},"others":{}}})",
                     timed.answered_after.count(), Json(timed.others));
}

Result<std::string> RenameDirectory(LoadLoop& loop, Rows& rows, Words& words) {
  const auto from = words.Next<std::string>();
  const auto to = words.Next<std::string>();
  return Timed(loop, rows, words, Rename2(from, to), AtLeast(0));
}

Result<std::string> DeleteDirectory(LoadLoop& loop, Rows& rows, Words& words) {
  const auto directory = words.Next<std::string>();
  return Timed(loop, rows, words, Delete(directory, true), MustBeTrue());
}

Result<std::string> Checkpoint(LoadLoop& loop, Rows&, Words& words) {
  EBB_TRY(words.Complete());
  Group group;
  for (std::size_t i = 0; i < loop.connections(); ++i) {
    std::vector<Call> calls;
    if (i == 0) calls = {SetSafeMode(true), SaveNamespace(), SetSafeMode(false)};
    group.workers.push_back(CallWorker::Once(std::move(calls), AtLeast(0)));
  }
  EBB_ASSIGN(const Measurement done, loop.Run(group, std::nullopt));
  if (done.failures > 0) return Fail(ErrorCode::kRemote, done.first_failure);
  return kDone;
}

const std::map<std::string, Handler>& Handlers() {
  static const std::map<std::string, Handler> kHandlers = {
      {"prepare", Prepare},
      {"run", Run},
      {"paced", RunPaced},
      {"beside-deletes", BesideDeletes},
      {"fill", FillTree},
      {"stat-once", StatOnce},
      {"stat-tree", StatFilled},
      {"rename", RenameDirectory},
      {"delete", DeleteDirectory},
      {"floor", Floor},
      {"checkpoint", Checkpoint},
      {"remove", Remove},
  };
  return kHandlers;
}

}  // namespace

Result<std::string> Answer(LoadLoop& loop, Rows& rows, const std::string& line) {
  const std::string verb = line.substr(0, line.find(' '));
  const auto handler = Handlers().find(verb);
  if (handler == Handlers().end()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("'{}' is no request; requests.h lists them", line));
  }
  Words words(line.substr(verb.size()));
  auto answer = handler->second(loop, rows, words);
  if (!answer) answer.error().message = fmt::format("'{}': {}", line, answer.error().message);
  return answer;
}

std::string ErrorAnswer(const std::string& message) {
  return fmt::format(R"({{"error":{}}})", Quoted(message));
}

}  // namespace ebb::metadata_load
