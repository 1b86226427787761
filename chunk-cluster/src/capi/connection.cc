#include "capi/connection.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>

#include "client/path.h"
#include "client/text.h"

namespace ebb::capi {

namespace {

constexpr std::string_view kHdfs = "hdfs:";
constexpr std::string_view kSchemeEnd = "://";

// The file systems that handles share, while a handle or an open file holds them. Thread-safe.
class SharedFileSystems {
 public:
  // Opens the file system of this name, unless it is open already.
  template <typename OpenFileSystem>
  [[nodiscard]] Answer<std::shared_ptr<client::FileSystem>> Get(const std::string& name,
                                                                const OpenFileSystem& open) {
    const std::lock_guard lock(mutex_);
    std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
    if (auto present = files_[name].lock()) return present;
    EBB_ASSIGN(std::shared_ptr<client::FileSystem> opened, open());
    files_[name] = opened;
    return opened;
  }

  // Lives until the process ends, because threads may connect while it ends.
  [[nodiscard]] static SharedFileSystems& Instance() {
    static SharedFileSystems* const kInstance = std::make_unique<SharedFileSystems>().release();
    return *kInstance;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<client::FileSystem>> files_;
};

// Of what distinguishes connections. A child of a process must not use those of its parent.
std::string SharedName(const std::string& authority, const std::string& user,
                       const hdfsBuilder& builder) {
  std::string name = fmt::format("{}\n{}\n{}\n{}", getpid(), authority, user,
                                 client::DefaultConfigurationDirectory());
  for (const auto& [key, value] : builder.settings) name += fmt::format("\n{}={}", key, value);
  return name;
}

// Clients write a URI with and without the port that it has anyway.
std::string WithoutUsualPort(std::string uri) {
  constexpr std::string_view kUsualPort = ":8020";
  if (uri.ends_with(kUsualPort)) uri.resize(uri.size() - kUsualPort.size());
  return uri;
}

bool EndsWithPort(const std::string& authority) {
  const auto colon = authority.rfind(':');
  return colon != std::string::npos &&
         authority.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

// Whether a text begins with a scheme, as URIs do.
bool HasScheme(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 && text.find('/') > colon;
}

}  // namespace

Answer<void> CheckHandle(const void* handle) {
  if (handle != nullptr) return {};
  return FailWith(EBADF, "the handle is NULL");
}

Answer<std::string> TextOf(const char* text, const char* what) {
  if (text != nullptr) return std::string(text);
  return FailWith(EINVAL, fmt::format("{} is NULL", what));
}

Answer<client::Configuration> ReadConfiguration(const hdfsBuilder& builder) {
  EBB_ASSIGN(auto configuration,
             client::Configuration::Read(client::DefaultConfigurationDirectory()));
  for (const auto& [key, value] : builder.settings) configuration.Set(key, value);
  return configuration;
}

Answer<std::string> AuthorityOf(const hdfsBuilder& builder,
                                const client::Configuration& configuration) {
  if (!builder.name_node) {
    return FailWith(ENOTSUP,
                    "the name node is NULL, which is the local file system in libhdfs; this "
                    "library knows HDFS only: name a name node, or \"default\"");
  }
  std::string authority = *builder.name_node;
  const auto scheme_end = authority.find(kSchemeEnd);
  if (scheme_end != std::string::npos) {
    if (authority.substr(0, scheme_end) != "hdfs") {
      return FailWith(ENOTSUP, fmt::format("'{}' is no file system of HDFS; write hdfs://HOST:PORT",
                                           *builder.name_node));
    }
    authority.erase(0, scheme_end + kSchemeEnd.size());
  }
  authority.resize(std::min(authority.find('/'), authority.size()));
  if (authority.empty() || *builder.name_node == "default") {
    EBB_ASSIGN(authority, client::DefaultAuthority(configuration));
    return authority;
  }
  if (builder.port == 0) return authority;
  if (EndsWithPort(authority)) {
    return FailWith(EINVAL, fmt::format("'{}' has a port already; leave out the port {}",
                                        *builder.name_node, builder.port));
  }
  return fmt::format("{}:{}", authority, builder.port);
}

Answer<std::unique_ptr<hdfs_internal>> Connect(const hdfsBuilder& builder) {
  EBB_ASSIGN(const auto configuration, ReadConfiguration(builder));
  EBB_ASSIGN(const auto authority, AuthorityOf(builder, configuration));
  const std::string user = builder.user.empty() ? client::CurrentUser() : builder.user;
  const auto open = [&] { return client::FileSystem::Open(configuration, authority, user); };
  std::shared_ptr<client::FileSystem> files;
  if (builder.own_connections) {
    EBB_ASSIGN(files, open());
  } else {
    const auto name = SharedName(authority, user, builder);
    EBB_ASSIGN(files, SharedFileSystems::Instance().Get(name, open));
  }
  return std::make_unique<hdfs_internal>(std::move(files));
}

}  // namespace ebb::capi

hdfs_internal::hdfs_internal(std::shared_ptr<ebb::client::FileSystem> file_system)
    : files(std::move(file_system)), working_directory_("/user/" + files->namenode().user()) {}

ebb::capi::Answer<std::string> hdfs_internal::Path(const char* text) {
  using ebb::capi::FailWith;
  EBB_ASSIGN(std::string path, ebb::capi::TextOf(text, "the path"));
  if (path.empty()) return FailWith(EINVAL, "the path is empty");
  if (!ebb::client::IsUtf8(path)) return FailWith(EINVAL, "the path is no UTF-8");
  if (path.starts_with(ebb::capi::kHdfs)) {
    std::string rest = path.substr(ebb::capi::kHdfs.size());
    if (rest.starts_with("//")) {
      const auto slash = std::min(rest.find('/', 2), rest.size());
      const auto file_system = ebb::capi::WithoutUsualPort("hdfs:" + rest.substr(0, slash));
      if (slash > 2 && file_system != ebb::capi::WithoutUsualPort(files->uri())) {
        return FailWith(EINVAL, fmt::format("'{}' is no path of {}", path, files->uri()));
      }
      rest.erase(0, slash);
    }
    path = "/" + rest;
  } else if (ebb::capi::HasScheme(path)) {
    return FailWith(EINVAL, fmt::format("'{}' is no path of {}", path, files->uri()));
  } else if (!path.starts_with('/')) {
    path = WorkingDirectory() + "/" + path;
  }
  return ebb::client::PathOf(ebb::client::PartsOf(path));
}

std::string hdfs_internal::WorkingDirectory() {
  const std::lock_guard lock(mutex_);
  return working_directory_;
}

void hdfs_internal::SetWorkingDirectory(std::string path) {
  const std::lock_guard lock(mutex_);
  working_directory_ = std::move(path);
}
