// The trash of the user of a command, /user/USER/.Trash, as HDFS has it: what is removed moves to
// `Current` below it. `Current` becomes a checkpoint, which has the name of the time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/shell.h"

namespace ebb::cli {

// One thread at a time. Asks the namenode for its interval once.
class Trash {
 public:
  Trash(Shell& shell, client::FileSystem& files);

  // Moves the item to the trash. False if there is no trash, or if the item lies in it: the caller
  // deletes.
  [[nodiscard]] Result<bool> Take(const Item& item);
  // Gives `Current` the name of the present time, if it is there.
  [[nodiscard]] Status MakeCheckpoint();
  // Deletes the checkpoints that are older than the interval, or all of them. Other names stay.
  [[nodiscard]] Status DeleteCheckpoints(bool all);

 private:
  // How long checkpoints are kept, in minutes: as the namenode says, or else the configuration. 0:
  // there is no trash.
  [[nodiscard]] Result<std::int64_t> Interval();
  // Where the item is now.
  [[nodiscard]] Result<std::string> Move(const Item& item);
  [[nodiscard]] Result<std::string> MakeDirectory(const std::string& directory);
  [[nodiscard]] Result<std::string> FreeName(const std::string& name);

  Shell& shell_;
  client::FileSystem& files_;
  const std::string root_;
  const std::string current_;
  std::optional<std::int64_t> interval_;
};

}  // namespace ebb::cli
