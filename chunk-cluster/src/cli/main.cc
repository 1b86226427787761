// The command 'ebb fs': the file system shell of HDFS without a JVM.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/shell.h"
#include "client/configuration.h"

namespace ebb::cli {
namespace {

constexpr int kMisuse = 255;
constexpr std::size_t kOutputBytes = std::size_t{256} << 10;

void PrintUsage() {
  fmt::print(stderr,
             "Usage: ebb fs [--dir CLUSTER | --conf DIRECTORY] [-D NAME=VALUE] [-fs URI]\n");
  for (const auto& command : Commands()) {
    fmt::print(stderr, "       -{} {}\n", command.name, command.usage);
  }
}

// The directory of configuration, and settings of the command line.
struct Setting {
  std::string directory;
  std::vector<std::pair<std::string, std::string>> values;
};

// Takes the options in front of the command.
Result<Setting> TakeSetting(std::vector<std::string>& words) {
  Setting setting{client::DefaultConfigurationDirectory(), {}};
  while (!words.empty()) {
    std::string option = words[0];
    std::string value;
    std::size_t used = 1;
    if (option.starts_with("-D") && option.size() > 2) {
      value = option.substr(2);
      option = "-D";
    } else if (words.size() > 1) {
      value = words[1];
      used = 2;
    }
    if (option == "-D") {
      const auto equals = value.find('=');
      if (equals == std::string::npos) return Misuse(fmt::format("'{}' has no '='", value));
      setting.values.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else if (option == "--conf") {
      setting.directory = value;
    } else if (option == "--dir") {
      setting.directory = value + "/conf/client";
    } else if (option == "-fs") {
      setting.values.emplace_back("fs.defaultFS", value);
    } else {
      break;
    }
    words.erase(words.begin(), words.begin() + static_cast<long>(used));
  }
  return setting;
}

// Splits the words behind the name of the command.
Result<Words> Split(const Command& command, const std::vector<std::string>& words) {
  Words split;
  std::size_t at = 0;
  const bool takes_options = command.options != nullptr;
  const std::string known = std::string(" ") + (takes_options ? command.options : "") + " ";
  for (; takes_options && at < words.size() && words[at].size() > 1 && words[at][0] == '-'; ++at) {
    const std::string option = words[at].substr(1);
    if (option == "-") {
      ++at;
      break;
    }
    if (known.contains(" " + option + "= ")) {
      if (++at == words.size()) return Misuse("option '" + option + "' requires 1 argument");
      split.values[option] = words[at];
    } else if (known.contains(" " + option + " ")) {
      split.options.push_back(option);
    } else {
      return Misuse("Illegal option " + words[at]);
    }
  }
  split.rest.assign(words.begin() + static_cast<long>(at), words.end());
  const std::size_t count = split.rest.size();
  if (count < command.least) {
    return Misuse(
        fmt::format("Not enough arguments: expected {} but got {}", command.least, count));
  }
  if (count > command.most) {
    return Misuse(fmt::format("Too many arguments: expected {} but got {}", command.most, count));
  }
  return split;
}

int TellMisuse(const Command& command, const Error& error) {
  std::fflush(stdout);
  fmt::print(stderr, "-{}: {}\nUsage: ebb fs -{} {}\n", command.name, error.message, command.name,
             command.usage);
  return kMisuse;
}

// The last bytes are written only now, and the stream remembers an earlier failure.
Status FlushOutput() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  const std::string reason = errno == 0 ? "" : fmt::format(" ({})", std::strerror(errno));
  return Fail(ErrorCode::kIo, "the output could not be written" + reason);
}

int RunCommand(const Command& command, const client::Configuration& configuration,
               const std::vector<std::string>& words) {
  auto split = Split(command, words);
  if (!split) return TellMisuse(command, split.error());
  Shell shell(configuration, command.name);
  const auto code = command.run(shell, std::move(*split));
  if (!code) {
    if (code.error().exception_class == "misuse") return TellMisuse(command, code.error());
    shell.Complain(code.error());
  }
  shell.Complain(FlushOutput());
  return shell.errors() > 0 ? 1 : *code;
}

int Run(std::vector<std::string> words) {
  auto setting = TakeSetting(words);
  if (!setting) {
    fmt::print(stderr, "ebb fs: {}\n", setting.error().message);
    return kMisuse;
  }
  const std::string name = words.empty() ? "" : words[0];
  const auto found = std::ranges::find_if(
      Commands(), [&](const Command& command) { return name == std::string("-") + command.name; });
  if (found == Commands().end()) {
    if (!name.empty()) fmt::print(stderr, "{}: Unknown command\n", name);
    PrintUsage();
    return kMisuse;
  }
  auto configuration = client::Configuration::Read(setting->directory);
  if (!configuration) {
    fmt::print(stderr, "{}: {}\n", found->name, configuration.error().message);
    return 1;
  }
  for (auto& [key, value] : setting->values) configuration->Set(key, value);
  return RunCommand(*found, *configuration, {words.begin() + 1, words.end()});
}

}  // namespace
}  // namespace ebb::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  static char buffer[ebb::cli::kOutputBytes];
  std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  try {
    return ebb::cli::Run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {  // output that nobody reads any more, or no memory
    (void)std::fprintf(stderr, "ebb fs: %s\n", error.what());
    return 1;
  }
}
