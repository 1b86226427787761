// checksum
#include "cli/commands.h"
#include "client/file_checksum.h"

namespace ebb::cli {

Result<int> RunChecksum(Shell& shell, Words words) {
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    if (item.IsDirectory()) return Refuse(item.text, kIsDirectory);
    EBB_ASSIGN(const auto checksum, client::ChecksumOf(*item.files, item.path));
    shell.Print("{}\t{}\t{}\n", item.text, checksum.algorithm, checksum.hex);
    return {};
  });
  return 0;
}

}  // namespace ebb::cli
