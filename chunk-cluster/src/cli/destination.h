// Where copies and moves go: the rules of the last word of their command lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/shell.h"

namespace ebb::cli {

// The last of the words, or "." if there is only one; takes it out of the words. An error if a
// pattern stands for several paths.
[[nodiscard]] Result<Item> TakeDestination(Shell& shell, Words& words);
// An error unless `sources` items may go there: several need a directory, and one needs a
// directory, or a name that is free (with `overwrite`: a file) in a directory that exists.
[[nodiscard]] Status CheckDestination(Shell& shell, const Item& to, std::size_t sources,
                                      bool overwrite);
// True if the text can only be the name of a directory: it ends with '/', '/.' or '/..'.
[[nodiscard]] bool NamesDirectory(const std::string& text);
// `to` itself, or the name below it if it is a directory; with the present status. An error if `to`
// does not exist and names a directory.
[[nodiscard]] Result<Item> TargetIn(Shell& shell, const Item& to, const std::string& name);
// An error if there is a file, and `overwrite` is false, or if there is a directory.
[[nodiscard]] Status CheckFree(const Item& target, bool overwrite);

// Writes a file under another name first, so that nobody sees a part of it:
// `<name>.<client name>._COPYING_`.
class NewFile {
 public:
  // `direct`: writes the name itself. `overwrite`: a file that has got the name meanwhile is
  // replaced, else it stays and Create() or Finish() fails.
  [[nodiscard]] static Result<NewFile> Create(const Item& target, bool direct, bool overwrite);
  // Goes on with the file `<name>.<mark>._COPYING_`, if an earlier command has left one that has at
  // most `most_bytes`; else makes it. Waits for the lease of a command that was killed, 2 minutes at
  // most. Abandon() leaves the file for the next command.
  [[nodiscard]] static Result<NewFile> Continue(Shell& shell, const Item& target,
                                                const std::string& mark, std::uint64_t most_bytes,
                                                bool overwrite);
  // The bytes that an earlier command has written.
  [[nodiscard]] std::uint64_t present() const { return present_; }
  // Closes the file and gives it its name.
  [[nodiscard]] Status Finish();
  // Deletes what was written, but under its other name only: the name itself may be of another
  // client's file by now. A file that another command is to continue is closed.
  void Abandon();
  [[nodiscard]] client::OutputStream& stream() { return *stream_; }

 private:
  Item target_;
  std::string path_;
  bool overwrite_ = false;
  bool continued_ = false;
  std::uint64_t present_ = 0;
  std::unique_ptr<client::OutputStream> stream_;
};

}  // namespace ebb::cli
