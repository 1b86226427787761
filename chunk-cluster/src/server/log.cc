#include "server/log.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

namespace ebb::server {
namespace {

// Ten files and the one that is written take 704 MiB.
constexpr std::size_t kFileBytes = std::size_t{64} << 20;
constexpr std::size_t kOldFiles = 10;
constexpr char kMessageFlag = 'J';

class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const auto escaped = JsonEscaped({message.payload.data(), message.payload.size()});
    out.append(escaped.data(), escaped.data() + escaped.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

std::unique_ptr<spdlog::formatter> Formatter(bool json) {
  if (!json) return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%d %H:%M:%S.%e %l %v");
  auto formatter = std::make_unique<spdlog::pattern_formatter>(
      "", spdlog::pattern_time_type::utc, spdlog::details::os::default_eol);
  formatter->add_flag<JsonMessage>(kMessageFlag);
  formatter->set_pattern(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","thread":"%t","message":"%J"})");
  return formatter;
}

std::shared_ptr<spdlog::logger> Open(const std::string& file) {
  if (file.empty()) return spdlog::stderr_logger_mt("chunkserver");
  return spdlog::rotating_logger_mt("chunkserver", file, kFileBytes, kOldFiles);
}

}  // namespace

std::string JsonEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

Status PrepareLog(const Configuration& configuration) {
  std::shared_ptr<spdlog::logger> log;
  try {
    log = Open(configuration.log_file);
  } catch (const spdlog::spdlog_ex& e) {
    return Fail(ErrorCode::kIo, fmt::format("--log-file {} cannot be written ({}); check the "
                                            "directory and its owner",
                                            configuration.log_file, e.what()));
  }
  log->set_formatter(Formatter(configuration.json_log));
  log->set_level(spdlog::level::from_str(configuration.log_level));
  log->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(log));
  // Protobuf would write a line for every malformed name that a stranger sends.
  google::protobuf::SetLogHandler(nullptr);
  return {};
}

}  // namespace ebb::server
