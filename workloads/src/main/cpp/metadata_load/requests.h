// The requests that the load generator understands, a line each, and its answers in JSON:
//
//   prepare                               creates the directories and files of the rows
//   run ROW SECONDS                       measures a row in a closed loop
//   paced ROW RATE SECONDS                measures a row at RATE operations per second
//   beside-deletes RATE DELETES SECONDS   stats at RATE, and DELETES deletes per second beside them
//   fill DIR FILES PER-DIR empty|data [FROM]
//                                         creates a tree of files, or those from number FROM on;
//                                         0 PER-DIR: all in one directory
//   stat-once PATH                        stats a path over every connection
//   stat-tree DIR FILES PER-DIR SECONDS   measures stats of random files of such a tree
//   rename FROM TO RATE TAIL              renames a directory beside the mix at RATE, and goes on
//                                         with the mix for TAIL seconds
//   delete DIR RATE TAIL                  deletes a directory in the same way
//   floor SECONDS                         measures stats of which no answer is looked at
//   checkpoint                            has the namenode write an image of its namespace
//   remove                                deletes what prepare and the rows created
#pragma once

#include <string>

#include "common/error.h"
#include "metadata_load/load_loop.h"
#include "metadata_load/rows.h"

namespace ebb::metadata_load {

// The answer to a line. kInvalid for a line that is no request.
[[nodiscard]] Result<std::string> Answer(LoadLoop& loop, Rows& rows, const std::string& line);
[[nodiscard]] std::string ErrorAnswer(const std::string& message);

}  // namespace ebb::metadata_load
