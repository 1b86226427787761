// The lines by which 'ebb bench data' orders work.
#pragma once

#include <string>
#include <string_view>

#include "data_tool/files.h"

namespace ebb::data_tool {

// Does what a request asks for and returns its answer. Fields are separated by tabs and
// URL-encoded. testbed/stock-client's DataTool takes the same requests, and two more. The files of
// a request are PREFIX0, PREFIX1 and so on, each of BYTES bytes; CLIENTS threads share them. MICROS
// is the time of the whole request, MEDIAN that of the median part (a file, a read):
//
//   ID write PREFIX FILES BYTES REPLICATION CLIENTS        ->  ID ok MICROS MEDIAN
//   ID read PREFIX FILES BYTES CLIENTS                     ->  ID ok MICROS MEDIAN
//   ID pread PREFIX FILES BYTES CLIENTS LENGTH COUNT SEED  ->  ID ok MICROS MEDIAN
//   ID begin PREFIX FILES LENGTH                           ->  ID ok MICROS MEDIAN
//   ID first PREFIX FILES BYTES   ->  ID ok MICROS MEDIAN  (until the first byte of each file)
//   ID mkdirs PATH POLICY (empty: none) | delete PATH      ->  ID ok
//   (any)                                                  ->  ID error MESSAGE
[[nodiscard]] std::string Answer(const Files& files, std::string_view line);

}  // namespace ebb::data_tool
