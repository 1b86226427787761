// A native writer of records for tests with writers in other languages.
//
//   append_tool AUTHORITY PATH LANES
//
// Standard input has records: the length in 4 bytes, big-endian, and the bytes. The number of a
// record, counted from 0, is a line on standard output once the record is stored. At the end of
// standard input the writer closes. It exits with 0 if all records are stored.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "client/configuration.h"
#include "client/file_system.h"
#include "client/record_appender.h"
#include "common/bytes.h"
#include "common/error.h"

namespace ebb::tools {
namespace {

// False at the end of standard input.
bool ReadInput(std::vector<std::byte>& out) {
  return std::fread(out.data(), 1, out.size(), stdin) == out.size();
}

// One call writes the line, so that a process that is killed leaves whole lines.
void TellStored(std::uint64_t number) {
  const std::string line = std::to_string(number) + "\n";
  (void)std::fwrite(line.data(), 1, line.size(), stdout);
  (void)std::fflush(stdout);
}

Status AppendInput(client::RecordAppender& appender) {
  std::vector<std::byte> length(4);
  for (std::uint64_t number = 0; ReadInput(length); ++number) {
    std::vector<std::byte> record(LoadBig32(length.data()));
    if (!ReadInput(record)) {
      return Fail(ErrorCode::kInvalid, "standard input ends in record " + std::to_string(number));
    }
    EBB_TRY(appender.Append(record, [number](const Status& stored) {
      if (stored) TellStored(number);
    }));
  }
  return appender.Close();
}

Status Run(const std::string& authority, const std::string& path, int lanes) {
  client::Configuration configuration;
  configuration.Set("ipc.client.connect.max.retries", "100");
  configuration.Set("ipc.client.connect.retry.interval", "100");
  EBB_ASSIGN(const auto files, client::FileSystem::Open(configuration, authority));
  client::AppendOptions options;
  options.lanes = lanes;
  EBB_ASSIGN(const auto appender, client::RecordAppender::Open(*files, path, options));
  return AppendInput(*appender);
}

}  // namespace
}  // namespace ebb::tools

int main(int count, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  if (count != 4) {
    (void)std::fprintf(stderr, "use: append_tool AUTHORITY PATH LANES\n");
    return 2;
  }
  try {
    const auto run = ebb::tools::Run(arguments[1], arguments[2], std::atoi(arguments[3]));
    if (run) return 0;
    (void)std::fprintf(stderr, "append_tool: %s\n", run.error().message.c_str());
  } catch (const std::exception& error) {  // no memory
    (void)std::fprintf(stderr, "append_tool: %s\n", error.what());
  }
  return 1;
}
