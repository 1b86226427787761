#include "mount/users.h"

#include <grp.h>
#include <pwd.h>

#include <vector>

namespace ebb::mount {

namespace {

constexpr uid_t kNobody = 65534;
constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
// A cluster may have more owners than a machine should remember.
constexpr std::size_t kMostNames = 10'000;

template <typename Number, typename Ask>
Number Remembered(std::unordered_map<std::string, Number>& known, const std::string& name,
                  const Ask& ask) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  if (known.size() >= kMostNames) known.clear();
  return known[name] = ask();
}

}  // namespace

uid_t Users::UserNumber(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return Remembered(users_, name, [&] {
    std::vector<char> buffer(kBufferBytes);
    passwd entry = {};
    passwd* found = nullptr;
    getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    return found != nullptr ? found->pw_uid : kNobody;
  });
}

gid_t Users::GroupNumber(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return Remembered(groups_, name, [&] {
    std::vector<char> buffer(kBufferBytes);
    group entry = {};
    group* found = nullptr;
    getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    return found != nullptr ? found->gr_gid : kNobody;
  });
}

std::optional<std::string> Users::UserName(uid_t number) const {
  std::vector<char> buffer(kBufferBytes);
  passwd entry = {};
  passwd* found = nullptr;
  getpwuid_r(number, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->pw_name;
}

std::optional<std::string> Users::GroupName(gid_t number) const {
  std::vector<char> buffer(kBufferBytes);
  group entry = {};
  group* found = nullptr;
  getgrgid_r(number, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return found->gr_name;
}

}  // namespace ebb::mount
