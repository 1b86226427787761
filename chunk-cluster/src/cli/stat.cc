// stat, test
#include "ClientNamenodeProtocol.pb.h"
#include "cli/commands.h"
#include "cli/format.h"

namespace ebb::cli {

namespace {

const char* KindText(const client::FileStatus& status) {
  switch (status.kind) {
    case client::FileKind::kDirectory:
      return "directory";
    case client::FileKind::kSymlink:
      return "symlink";
    case client::FileKind::kFile:
      break;
  }
  return "regular file";
}

std::string Field(char letter, const Item& item) {
  const auto& status = *item.status;
  switch (letter) {
    case 'a':
      return fmt::format("{:o}", status.mode);
    case 'A':
      return client::ModeText(status.mode);
    case 'b':
      return std::to_string(status.length);
    case 'F':
      return KindText(status);
    case 'g':
      return status.group;
    case 'n':
      return item.Name();
    case 'o':
      return std::to_string(status.block_bytes);
    case 'r':
      return std::to_string(status.replication);
    case 'u':
      return status.owner;
    case 'x':
      return UtcText(status.accessed_millis);
    case 'X':
      return std::to_string(status.accessed_millis);
    case 'y':
      return UtcText(status.modified_millis);
    case 'Y':
      return std::to_string(status.modified_millis);
    // An unknown letter stands for itself.
    default:
      return {letter};
  }
}

std::string Filled(const std::string& format, const Item& item) {
  std::string text;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
    } else if (++i < format.size()) {
      text += Field(format[i], item);
    }
  }
  return text;
}

Result<bool> MayAccess(const Item& item, hadoop::hdfs::AclEntryProto_FsActionProto action) {
  hadoop::hdfs::CheckAccessRequestProto request;
  request.set_path(item.path);
  request.set_mode(action);
  hadoop::hdfs::CheckAccessResponseProto response;
  const auto status = item.files->namenode().Call("checkAccess", request, response);
  if (status) return true;
  if (status.error().exception_class == "org.apache.hadoop.security.AccessControlException") {
    return false;
  }
  return std::unexpected(status.error());
}

// Whether an item passes the test that a letter names.
Result<bool> Passes(const Item& item, char letter) {
  if (!item.status) return false;
  switch (letter) {
    case 'e':
      return true;
    case 'd':
      return item.IsDirectory();
    case 'f':
      return item.status->kind == client::FileKind::kFile;
    case 's':
      return item.status->length > 0;
    case 'z':
      return item.status->length == 0;
    case 'w':
      return MayAccess(item, hadoop::hdfs::AclEntryProto_FsActionProto_WRITE);
    default:
      return MayAccess(item, hadoop::hdfs::AclEntryProto_FsActionProto_READ);
  }
}

}  // namespace

Result<int> RunStat(Shell& shell, Words words) {
  std::string format = "%y";
  if (words.rest[0].find('%') != std::string::npos) {
    format = words.rest[0];
    words.rest.erase(words.rest.begin());
  }
  if (words.rest.empty()) return Misuse("Not enough arguments: expected 1 but got 0");
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    const auto show = [&](Item& one) -> Status {
      shell.Print("{}\n", Filled(format, one));
      return {};
    };
    if (!words.Has("R")) return show(item);
    shell.Walk(item, show);
    return {};
  });
  return 0;
}

Result<int> RunTest(Shell& shell, Words words) {
  if (words.options.empty()) return Misuse("No test flag given");
  if (words.options.size() > 1) return Misuse("Only one test flag is allowed");
  // As with hdfs dfs, all files that a pattern matches must pass the test.
  std::size_t tested = 0;
  std::size_t passed = 0;
  shell.ForEach(words.rest, [&](Item& item) -> Status {
    ++tested;
    EBB_ASSIGN(const bool passes, Passes(item, words.options[0][0]));
    if (passes) ++passed;
    return {};
  });
  return tested > 0 && passed == tested ? 0 : 1;
}

}  // namespace ebb::cli
