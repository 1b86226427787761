// What an hdfsFS points at.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capi/failure.h"
#include "capi/hdfs.h"
#include "client/file_system.h"

// Thread-safe.
struct hdfs_internal {
  explicit hdfs_internal(std::shared_ptr<ebb::client::FileSystem> file_system);

  // The absolute path that a caller's text stands for. EINVAL for no path of this file system.
  [[nodiscard]] ebb::capi::Answer<std::string> Path(const char* text);
  [[nodiscard]] std::string WorkingDirectory();
  void SetWorkingDirectory(std::string path);

  // Open files hold it, too, because they may be closed after the handle.
  const std::shared_ptr<ebb::client::FileSystem> files;
  // The process that has the threads and connections. A child that was forked has copies of their
  // memory alone.
  const pid_t process = getpid();

 private:
  std::mutex mutex_;
  std::string working_directory_;
};

// What a caller has told of a connection.
struct hdfsBuilder {
  std::optional<std::string> name_node;
  tPort port = 0;
  // Empty: as the environment says.
  std::string user;
  bool own_connections = false;
  std::vector<std::pair<std::string, std::string>> settings;
};

namespace ebb::capi {

// The configuration files, and the caller's settings.
[[nodiscard]] Answer<client::Configuration> ReadConfiguration(const hdfsBuilder& builder);
// "HOST:PORT" or a name service.
[[nodiscard]] Answer<std::string> AuthorityOf(const hdfsBuilder& builder,
                                              const client::Configuration& configuration);
[[nodiscard]] Answer<std::unique_ptr<hdfs_internal>> Connect(const hdfsBuilder& builder);

// EBADF for a null handle.
[[nodiscard]] Answer<void> CheckHandle(const void* handle);
// EINVAL for a null text.
[[nodiscard]] Answer<std::string> TextOf(const char* text, const char* what);

}  // namespace ebb::capi
