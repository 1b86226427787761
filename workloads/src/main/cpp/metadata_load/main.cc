// The load generator of `ebb bench metadata`. It does what lines on its standard input ask for (see
// requests.h), and answers each with a line of JSON on its standard output. It ends after an error,
// and at the end of its input. With --await it waits until the namenode serves calls, and ends.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>

#include "metadata_load/await.h"
#include "metadata_load/constant_server.h"
#include "metadata_load/load_loop.h"
#include "metadata_load/requests.h"
#include "metadata_load/rows.h"

namespace ebb::metadata_load {
namespace {

constexpr std::chrono::seconds kAwaitTimeout(1200);

struct Options {
  Namenode namenode;
  std::size_t connections = 1;
  int server_pid = 0;
  std::string root = "/metadata-load";
  std::string await;
  std::string path;
  bool constant = false;
};

Status AnswerRequests(LoadLoop& loop, const Options& options) {
  Rows rows(loop, options.root);
  for (std::string line; std::getline(std::cin, line);) {
    EBB_ASSIGN(const std::string answer, Answer(loop, rows, line));
    std::cout << answer << std::endl;
  }
  return {};
}

Status Serve(const Options& options) {
  if (!options.await.empty()) {
    return Await(options.namenode, options.path, options.await == "write", kAwaitTimeout);
  }
  EBB_ASSIGN(LoadLoop loop,
             LoadLoop::Connect(options.namenode, options.connections, options.server_pid));
  return AnswerRequests(loop, options);
}

// Drives a server of its own.
Status ServeConstants(Options options) {
  EBB_ASSIGN(const ConstantServer server,
             ConstantServer::Start(static_cast<int>(std::thread::hardware_concurrency())));
  options.namenode.port = server.port();
  options.server_pid = server.pid();
  return Serve(options);
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
  app.add_option("--port", options.namenode.port);
  app.add_option("--user", options.namenode.user)->required();
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 60'000));
  app.add_option("--server-pid", options.server_pid, "The process whose processor time counts.");
  app.add_option("--root", options.root, "Where the rows have their files: a path of one name.");
  app.add_option("--await", options.await, "Waits for reads or writes, and ends.")
      ->check(CLI::IsMember({"read", "write"}));
  app.add_option("--path", options.path, "A file to stat, or a directory to make, with --await.");
  app.add_flag("--constant-server", options.constant,
               "Drives a server of its own that answers each call with the same bytes.");
  CLI11_PARSE(app, count, arguments);
  std::signal(SIGPIPE, SIG_IGN);
  AllowManyDescriptors();
  if (const Status served = options.constant ? ServeConstants(options) : Serve(options); !served) {
    std::cout << ErrorAnswer(served.error().message) << std::endl;
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ebb::metadata_load

int main(int count, char** arguments) { return ebb::metadata_load::Main(count, arguments); }
