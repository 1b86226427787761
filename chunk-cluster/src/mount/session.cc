#include "mount/session.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#include "client/file_system.h"
#include "mount/log.h"
#include "mount/mount_list.h"
#include "mount/mounted_files.h"
#include "mount/operations.h"
#include "mount/unmount.h"

namespace ebb::mount {

namespace {

constexpr char kDevice[] = "/dev/fuse";
// How long a lazily unmounted session may go on after its files were ended.
constexpr auto kLastWait = std::chrono::milliseconds(500);

// Readers and writers have a connection each.
void RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

Result<std::unique_ptr<client::FileSystem>> Connect(const MountOptions& options) {
  EBB_ASSIGN(auto configuration, client::Configuration::Read(options.configuration));
  const auto deadline = std::to_string(options.deadline.count());
  const auto part = std::to_string(std::max<std::int64_t>(options.deadline.count() / 3, 1));
  configuration.Set("ebbfs.client.call.deadline.ms", deadline);
  configuration.Set("ipc.client.connect.timeout", part);
  // The kernel has taken the program's umask off already.
  configuration.Set("fs.permissions.umask-mode", "000");
  for (const auto& [name, value] : options.settings) configuration.Set(name, value);
  EBB_ASSIGN(const auto authority, client::DefaultAuthority(configuration));
  return client::FileSystem::Open(configuration, authority);
}

Status CheckRoot(client::FileSystem& files, const std::string& root) {
  EBB_ASSIGN(const auto status, files.Stat(root));
  if (!status) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}{} does not exist", files.uri(), root));
  }
  if (!status->IsDirectory()) {
    return Fail(ErrorCode::kInvalid, fmt::format("{}{} is no directory", files.uri(), root));
  }
  return {};
}

// A comma would end the option.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ',' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// The arguments of libfuse.
class Arguments {
 public:
  Arguments(const MountOptions& options, const std::string& source) {
    Add("ebbfs");
    Add("-o");
    Add(fmt::format("fsname={}{},subtype=ebbfs,{}{}{}", source, Escaped(options.root),
                    options.read_only ? "ro" : "rw", options.allow_other ? ",allow_other" : "",
                    options.default_permissions ? ",default_permissions" : ""));
  }
  ~Arguments() { fuse_opt_free_args(&arguments_); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  [[nodiscard]] fuse_args* get() { return &arguments_; }

 private:
  void Add(const std::string& word) { (void)fuse_opt_add_arg(&arguments_, word.c_str()); }

  fuse_args arguments_ = FUSE_ARGS_INIT(0, nullptr);
};

// The kernel reads no more ahead than this file says; only root may write it.
void SetReadAhead(const std::string& directory, std::uint64_t bytes) {
  const auto found = FindMount(directory);
  if (!found) return;
  std::ofstream("/sys/class/bdi/" + found->device + "/read_ahead_kb") << (bytes >> 10) << std::endl;
}

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  return signals;
}

// Waits for a signal, ends the files and takes the mount away. If programs still stand in it, the
// process ends under them.
class SignalThread {
 public:
  SignalThread(MountedFiles& files, std::string directory, Log& log)
      : files_(files), directory_(std::move(directory)), log_(log) {
    const auto signals = EndingSignals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([this] { Run(); }).detach();
  }

 private:
  void Run() {
    const auto signals = EndingSignals();
    int signal = 0;
    while (sigwait(&signals, &signal) != 0) {
    }
    log_.Write(fmt::format("{}: ending the files that are written", strsignal(signal)));
    const auto unfinished = files_.Stop();
    if (const auto gone = UnmountPath(directory_, true); !gone) log_.Write(gone.error().message);
    std::this_thread::sleep_for(kLastWait);
    _exit(unfinished == 0 ? 0 : 1);
  }

  MountedFiles& files_;
  const std::string directory_;
  Log& log_;
};

}  // namespace

std::string DefaultLog() {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "/var/log/ebbfs-mount.log";
  return std::string(home) + "/.ebbfs-mount.log";
}

Status CheckMountable(MountOptions& options) {
  EBB_ASSIGN(options.directory, AbsolutePath(options.directory));
  const auto present = FindMount(options.directory);
  if (present && present->type == kFileSystemType) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{0} is a mount of EbbFS already; 'ebb umount {0}' takes it away",
                            options.directory));
  }
  struct stat status = {};
  if (stat(options.directory.c_str(), &status) != 0) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: {}", options.directory, std::strerror(errno)));
  }
  if (!S_ISDIR(status.st_mode)) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} is no directory", options.directory));
  }
  if (access(kDevice, F_OK) != 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is missing: this kernel or container has no FUSE; 'modprobe fuse' "
                            "as root loads it",
                            kDevice));
  }
  return CheckHelper();
}

namespace {

// An error, or no return.
Status ServeOrFail(const MountOptions& options, const std::function<void()>& serves) {
  RaiseFileLimit();
  Log log(options.directory);
  if (!options.log.empty()) EBB_TRY(log.ToFile(options.log));
  // Blocked before there is any other thread, so that only one thread gets them.
  const auto signals = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  EBB_ASSIGN(const auto files, Connect(options));
  EBB_TRY(CheckRoot(*files, options.root));
  // Not destroyed: a thread of it may wait for a server when the process ends.
  auto& mounted = *new MountedFiles(*files, options, log);
  SessionData data{mounted, options};
  Arguments arguments(options, files->uri());
  fuse_session* const session =
      fuse_session_new(arguments.get(), &Operations(), sizeof(fuse_lowlevel_ops), &data);
  if (session == nullptr || fuse_session_mount(session, options.directory.c_str()) != 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("{} was not mounted; what libfuse has to say is above",
                            options.directory));
  }
  mounted.Attach(session);
  SetReadAhead(options.directory, options.read_ahead_bytes);
  SignalThread ending(mounted, options.directory, log);
  log.Write(fmt::format("shows {}{} for user {}", files->uri(), options.root,
                        files->namenode().user()));
  serves();
  const int looped = fuse_session_loop(session);
  const auto unfinished = mounted.Stop();
  fuse_session_unmount(session);
  log.Write(fmt::format("ends: {}", looped == 0 ? "unmounted" : std::strerror(std::abs(looped))));
  _exit(unfinished == 0 ? 0 : 1);
}

}  // namespace

Error Serve(const MountOptions& options, const std::function<void()>& serves) {
  return ServeOrFail(options, serves).error();
}

}  // namespace ebb::mount
