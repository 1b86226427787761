// Neither protobuf nor the server writes a line for each malformed input. (The chunk server
// switches off protobuf's own lines, too.)
#pragma once

#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

namespace ebb::fuzz {

inline const auto kProtobufLog = google::protobuf::SetLogHandler(nullptr);
inline const bool kQuiet = (spdlog::set_level(spdlog::level::off), true);

}  // namespace ebb::fuzz
