// The log of the process: to stderr, or to a file that is rotated; as text or as JSON.
#pragma once

#include <string>

#include "common/error.h"
#include "server/configuration.h"

namespace ebb::server {

// kIo if the file cannot be written.
[[nodiscard]] Status PrepareLog(const Configuration& configuration);

// The text between the quotes of a JSON string.
[[nodiscard]] std::string JsonEscaped(std::string_view text);

}  // namespace ebb::server
