// Waiting until a namenode that starts serves calls.
#pragma once

#include <chrono>
#include <string>

#include "common/error.h"
#include "metadata_load/connection.h"

namespace ebb::metadata_load {

// Asks again and again, a few milliseconds apart, until the namenode answers: a stat of the path,
// or with `write` the creation of the directory. kTimeout with the last answer.
[[nodiscard]] Status Await(const Namenode& namenode, const std::string& path, bool write,
                           std::chrono::seconds timeout);

}  // namespace ebb::metadata_load
