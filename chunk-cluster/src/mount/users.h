// The numbers of users and groups on this machine, and their names in HDFS.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace ebb::mount {

// Thread-safe. Answers of the machine are kept while the mount lives. A name that the machine does
// not know is shown as nobody.
class Users {
 public:
  [[nodiscard]] uid_t UserNumber(const std::string& name);
  [[nodiscard]] gid_t GroupNumber(const std::string& name);
  // Nothing if the machine has no such user or group.
  [[nodiscard]] std::optional<std::string> UserName(uid_t number) const;
  [[nodiscard]] std::optional<std::string> GroupName(gid_t number) const;

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, uid_t> users_;
  std::unordered_map<std::string, gid_t> groups_;
};

}  // namespace ebb::mount
