#include "mount/options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

#include "client/configuration.h"

namespace ebb::mount {

namespace {

std::unexpected<Error> Misuse(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

Result<std::uint64_t> Whole(const std::string& name, const std::string& text, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < least || value > most) {
    return Misuse(fmt::format("-o {}={}: write a number from {} to {}", name, text, least, most));
  }
  return value;
}

Result<double> Seconds(const std::string& name, const std::string& text, double least,
                       double most) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || !(value >= least && value <= most)) {
    return Misuse(
        fmt::format("-o {}={}: write seconds, from {} to {}", name, text, least, most));
  }
  return value;
}

// What -o default_permissions and its opposite have said, if either was there.
struct Permissions {
  std::optional<bool> checked;
};

bool TakeFlag(const std::string& name, MountOptions& options, Permissions& permissions) {
  if (name == "ro") {
    options.read_only = true;
  } else if (name == "rw") {
    options.read_only = false;
  } else if (name == "allow_other") {
    options.allow_other = true;
  } else if (name == "default_permissions") {
    permissions.checked = true;
  } else if (name == "no_default_permissions") {
    permissions.checked = false;
  } else {
    return false;
  }
  return true;
}

Result<bool> TakeLimit(const std::string& name, const std::string& value, MountOptions& options) {
  if (name == "threads") {
    EBB_ASSIGN(options.threads, Whole(name, value, 2, 1024));
  } else if (name == "open_files") {
    EBB_ASSIGN(options.open_files, Whole(name, value, 1, 1 << 20));
  } else if (name == "dirty") {
    EBB_ASSIGN(const auto mebibytes, Whole(name, value, 1, 1 << 20));
    options.dirty_bytes = mebibytes << 20;
  } else if (name == "readahead") {
    EBB_ASSIGN(const auto kibibytes, Whole(name, value, 0, 1 << 20));
    options.read_ahead_bytes = kibibytes << 10;
  } else {
    return false;
  }
  return true;
}

Status TakeOption(const std::string& word, MountOptions& options, Permissions& permissions) {
  const auto equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (equals == std::string::npos) {
    if (TakeFlag(name, options, permissions)) return {};
    return Misuse(fmt::format("-o {}: there is no such option without a value", name));
  }
  const std::string value = word.substr(equals + 1);
  if (name == "root") {
    if (!value.starts_with('/') || (value.size() > 1 && value.ends_with('/'))) {
      return Misuse(
          fmt::format("-o root={}: write an absolute path without '/' at its end", value));
    }
    options.root = value;
  } else if (name == "freshness") {
    EBB_ASSIGN(const double seconds, Seconds(name, value, 0, 86'400));
    options.freshness = std::chrono::duration<double>(seconds);
  } else if (name == "deadline") {
    EBB_ASSIGN(const double seconds, Seconds(name, value, 0.1, 86'400));
    options.deadline = Timeout(static_cast<std::int64_t>(seconds * 1000));
  } else {
    EBB_ASSIGN(const bool taken, TakeLimit(name, value, options));
    if (!taken) return Misuse(fmt::format("-o {}: there is no such option with a value", name));
  }
  return {};
}

// Options with a value: the value is the rest of the word, or the next word.
struct Taken {
  std::string option;
  std::string value;
  std::size_t words = 1;
};

Result<Taken> Take(const std::vector<std::string>& words, std::size_t at) {
  Taken taken{.option = words[at], .value = {}};
  for (const char* attached : {"-D", "-o"}) {
    if (taken.option.size() > 2 && taken.option.starts_with(attached)) {
      taken.value = taken.option.substr(2);
      taken.option = attached;
      return taken;
    }
  }
  if (at + 1 >= words.size()) return Misuse(fmt::format("'{}' wants a value", taken.option));
  taken.value = words[at + 1];
  taken.words = 2;
  return taken;
}

Status Apply(const Taken& taken, MountOptions& options, Permissions& permissions) {
  if (taken.option == "-o") {
    std::istringstream all(taken.value);
    for (std::string word; std::getline(all, word, ',');) {
      if (!word.empty()) EBB_TRY(TakeOption(word, options, permissions));
    }
  } else if (taken.option == "-D") {
    const auto equals = taken.value.find('=');
    if (equals == std::string::npos) return Misuse(fmt::format("-D {} has no '='", taken.value));
    options.settings.emplace_back(taken.value.substr(0, equals), taken.value.substr(equals + 1));
  } else if (taken.option == "-fs") {
    options.settings.emplace_back("fs.defaultFS", taken.value);
  } else if (taken.option == "--conf") {
    options.configuration = taken.value;
  } else if (taken.option == "--dir") {
    options.configuration = taken.value + "/conf/client";
  } else if (taken.option == "--log") {
    options.log = taken.value;
  } else {
    return Misuse(fmt::format("there is no option '{}'", taken.option));
  }
  return {};
}

}  // namespace

Result<MountOptions> ParseMount(std::vector<std::string> words) {
  MountOptions options;
  options.configuration = client::DefaultConfigurationDirectory();
  Permissions permissions;
  for (std::size_t at = 0; at < words.size();) {
    const std::string& word = words[at];
    if (word == "-f") {
      options.foreground = true;
      ++at;
    } else if (word.size() > 1 && word.starts_with('-')) {
      EBB_ASSIGN(const auto taken, Take(words, at));
      EBB_TRY(Apply(taken, options, permissions));
      at += taken.words;
    } else {
      if (!options.directory.empty()) {
        return Misuse(fmt::format("'{}' and '{}': one directory only", options.directory, word));
      }
      options.directory = word;
      ++at;
    }
  }
  if (options.directory.empty()) return Misuse("the directory is missing");
  options.default_permissions = permissions.checked.value_or(options.allow_other);
  return options;
}

Result<UnmountOptions> ParseUnmount(const std::vector<std::string>& words) {
  UnmountOptions options;
  for (const auto& word : words) {
    if (word == "--lazy" || word == "-l") {
      options.lazy = true;
    } else if (word.starts_with('-') || !options.directory.empty()) {
      return Misuse(fmt::format("'{}' is not understood", word));
    } else {
      options.directory = word;
    }
  }
  if (options.directory.empty()) return Misuse("the directory is missing");
  return options;
}

}  // namespace ebb::mount
