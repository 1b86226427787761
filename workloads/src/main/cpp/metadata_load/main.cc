// The load generator of `ebb bench metadata`. It does what lines on its standard input ask for, and
// answers each line with a line of JSON on its standard output:
//
//   prepare             creates the directories and files of the rows     {"ok":true}
//   run ROW SECONDS     measures a row                                    {"operations":...}
//   remove              deletes all of them                               {"ok":true}
//
// After an error, {"error":"..."}, it ends. It also ends at the end of its input.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <sstream>
#include <string>

#include "metadata_load/load_loop.h"
#include "metadata_load/rows.h"

namespace ebb::metadata_load {
namespace {

struct Options {
  Namenode namenode;
  std::size_t connections = 1;
  int server_pid = 0;
  std::string root = "/metadata-load";
};

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
      R"("serverCpuMicros":{},"clientCpuMicros":{},"p50Millis":{:.4f},"p99Millis":{:.4f},)"
      R"("p999Millis":{:.4f}}})",
      m.operations, m.failures, Quoted(m.first_failure), m.seconds, m.server_cpu_micros,
      m.client_cpu_micros, millis(0.5), millis(0.99), millis(0.999));
}

Result<std::string> Answer(Rows& rows, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "prepare") {
    EBB_TRY(rows.Prepare());
    return R"({"ok":true})";
  }
  if (verb == "remove") {
    EBB_TRY(rows.Remove());
    return R"({"ok":true})";
  }
  std::string row;
  double seconds = 0;
  if (verb == "run" && words >> row >> seconds && seconds > 0) {
    EBB_ASSIGN(const Measurement measured,
               rows.Run(row, std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9))));
    return Json(measured);
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("'{}' is no request: write prepare, run ROW SECONDS or remove", line));
}

Status Serve(const Options& options) {
  EBB_ASSIGN(LoadLoop loop,
             LoadLoop::Connect(options.namenode, options.connections, options.server_pid));
  Rows rows(loop, options.root);
  for (std::string line; std::getline(std::cin, line);) {
    EBB_ASSIGN(const std::string answer, Answer(rows, line));
    std::cout << answer << std::endl;
  }
  return {};
}

void AllowManyDescriptors() {
  rlimit descriptors = {};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 65'536);
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
}

int Main(int count, char** arguments) {
  Options options;
  CLI::App app("Drives a namenode and measures it; 'ebb bench metadata' runs it.");
  app.add_option("--host", options.namenode.host)->required();
  app.add_option("--port", options.namenode.port)->required();
  app.add_option("--user", options.namenode.user)->required();
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 60'000));
  app.add_option("--server-pid", options.server_pid);
  app.add_option("--root", options.root);
  CLI11_PARSE(app, count, arguments);
  std::signal(SIGPIPE, SIG_IGN);
  AllowManyDescriptors();
  if (const Status served = Serve(options); !served) {
    std::cout << fmt::format(R"({{"error":{}}})", Quoted(served.error().message)) << std::endl;
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ebb::metadata_load

int main(int count, char** arguments) { return ebb::metadata_load::Main(count, arguments); }
