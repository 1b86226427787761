// The native client of 'ebb bench data': it writes and reads much data on request, by several
// threads, and compares every byte that it reads.
//
//   data_tool NAME=VALUE ...
//
// The names are Hadoop settings, with fs.defaultFS. A line on standard input is a request, a line
// on standard output its answer (see requests.h). It ends at the end of standard input.
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "client/configuration.h"
#include "client/file_system.h"
#include "data_tool/files.h"
#include "data_tool/requests.h"

namespace ebb::data_tool {
namespace {

Result<client::Configuration> SettingsOf(int count, char** arguments) {
  client::Configuration configuration;
  for (int i = 1; i < count; ++i) {
    const std::string setting = arguments[i];
    const auto equals = setting.find('=');
    if (equals == std::string::npos) {
      return Fail(ErrorCode::kInvalid, "'" + setting + "' has no '='; write NAME=VALUE");
    }
    configuration.Set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return configuration;
}

Status Serve(int count, char** arguments) {
  EBB_ASSIGN(const auto configuration, SettingsOf(count, arguments));
  EBB_ASSIGN(const auto authority, client::DefaultAuthority(configuration));
  EBB_ASSIGN(const auto system, client::FileSystem::Open(configuration, authority));
  const Files files(*system);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << Answer(files, line) << std::endl;
  }
  return {};
}

}  // namespace
}  // namespace ebb::data_tool

int main(int count, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const auto served = ebb::data_tool::Serve(count, arguments);
    if (served) return 0;
    (void)std::fprintf(stderr, "data_tool: %s\n", served.error().message.c_str());
  } catch (const std::exception& error) {  // no memory
    (void)std::fprintf(stderr, "data_tool: %s\n", error.what());
  }
  return 1;
}
