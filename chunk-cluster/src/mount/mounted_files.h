// A mounted file system: does what the kernel asks for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/file_system.h"
#include "mount/active_calls.h"
#include "mount/call.h"
#include "mount/directory_cursor.h"
#include "mount/file_reader.h"
#include "mount/file_writer.h"
#include "mount/fuse.h"
#include "mount/handle_table.h"
#include "mount/log.h"
#include "mount/node_table.h"
#include "mount/options.h"
#include "mount/users.h"
#include "mount/worker_pool.h"

namespace ebb::mount {

// A file that a program has open.
struct OpenFile {
  NodePointer node;
  StrandPointer strand;
  // Null if the file is open for writing only.
  std::unique_ptr<FileReader> reader;
  // FileState::changes() when the reader was opened.
  std::uint64_t reader_changes = 0;
  // Null if it is open for reading only.
  FileWriterPointer writer;
  // The refusal of a write is told once.
  bool refusal_told = false;
};

struct OpenDirectory {
  NodePointer node;
  StrandPointer strand;
  std::unique_ptr<DirectoryCursor> cursor;
};

// The thread that reads the kernel's calls calls the methods; none of them waits for a server. The
// threads of a pool do the work and answer. Calls of one open file run in the order in which they
// came. Everything is done as the user of the client library, whoever asks.
class MountedFiles {
 public:
  // `root` is a path that exists.
  MountedFiles(client::FileSystem& files, const MountOptions& options, Log& log);

  // Invalidates attributes at the kernel, once there is a session.
  void Attach(fuse_session* session) { session_ = session; }

  // Names: names.cc.
  void Look(fuse_req_t request, NodeId parent, const char* name);
  void Forget(NodeId node, std::uint64_t lookups) { nodes_.Forget(node, lookups); }
  void MakeDirectory(fuse_req_t request, NodeId parent, const char* name, mode_t mode);
  void Remove(fuse_req_t request, NodeId parent, const char* name);
  void Rename(fuse_req_t request, NodeId parent, const char* name, NodeId new_parent,
              const char* new_name, unsigned flags);

  // Attributes: attributes.cc and extended_attributes.cc.
  void GetAttributes(fuse_req_t request, NodeId node);
  void SetAttributes(fuse_req_t request, NodeId node, const struct stat& wanted, int which);
  void Statistics(fuse_req_t request);
  void GetXAttr(fuse_req_t request, NodeId node, const char* name, std::size_t room);
  void ListXAttrs(fuse_req_t request, NodeId node, std::size_t room);
  void SetXAttr(fuse_req_t request, NodeId node, const char* name, std::string value, int flags);
  void RemoveXAttr(fuse_req_t request, NodeId node, const char* name);

  // Directories: directories.cc.
  void OpenDirectoryOf(fuse_req_t request, NodeId node, const fuse_file_info& info);
  void ReadDirectory(fuse_req_t request, std::uint64_t handle, std::size_t room, off_t from,
                     bool with_attributes);
  void CloseDirectory(fuse_req_t request, std::uint64_t handle);

  // Files: open_files.cc and file_data.cc.
  void Open(fuse_req_t request, NodeId node, const fuse_file_info& info);
  void Create(fuse_req_t request, NodeId parent, const char* name, mode_t mode,
              const fuse_file_info& info);
  void Read(fuse_req_t request, std::uint64_t handle, std::size_t size, off_t offset);
  void Write(fuse_req_t request, std::uint64_t handle, std::span<const std::byte> data,
             off_t offset, bool appends);
  void Flush(fuse_req_t request, std::uint64_t handle);
  void Sync(fuse_req_t request, std::uint64_t handle);
  void Close(fuse_req_t request, std::uint64_t handle);

  // No file is opened any more, and those that are written are ended, as far as that can be done by
  // the deadline. Returns how many could not be ended; they are logged. Thread-safe.
  [[nodiscard]] std::size_t Stop();

 private:
  using Work = std::function<int(const CallPointer&)>;

  [[nodiscard]] CallPointer Begin(fuse_req_t request, std::string what);
  // Lets the pool do the work, which answers, or returns an errno to answer with.
  void Do(const CallPointer& call, Work work);
  void Do(const CallPointer& call, const StrandPointer& strand, Work work);
  // Logs what a program cannot tell from its errno, and returns the errno.
  int Tell(int number, const std::string& what, const Error& error);

  // The path of a node; nothing if it was removed.
  [[nodiscard]] std::optional<std::string> PathOf(NodeId node) const;
  [[nodiscard]] std::optional<std::string> PathOf(NodeId parent, const std::string& name) const;
  // Where the name can go to HDFS; else an errno. The kernel allows all bytes.
  [[nodiscard]] static int CheckName(const std::string& name);

  [[nodiscard]] int RenameError(const std::string& from, const std::string& to,
                                const Error& error);

  [[nodiscard]] struct stat AttributesOf(const client::FileStatus& status, Node& node);
  // Adds a lookup to the node, which belongs to the kernel when it has got the entry.
  [[nodiscard]] fuse_entry_param EntryOf(const client::FileStatus& status, const NodePointer& node);
  [[nodiscard]] int AnswerEntry(const CallPointer& call, const NodePointer& parent,
                                const std::string& name, const client::FileStatus& status);
  // The status of a node, whose name still stands for the same file. An errno else.
  [[nodiscard]] std::expected<client::FileStatus, int> StatusOf(Node& node);
  [[nodiscard]] int AnswerAttributes(const CallPointer& call, Node& node);

  [[nodiscard]] int ChangeLength(const CallPointer& call, Node& node, std::uint64_t length);
  [[nodiscard]] int ChangeOwner(const std::string& path, const struct stat& wanted, int which);
  [[nodiscard]] int ChangeTimes(Node& node, const std::string& path, const struct stat& wanted,
                                int which);

  [[nodiscard]] int AddEntries(const CallPointer& call, OpenDirectory& directory, std::size_t room,
                               off_t from, bool with_attributes);

  [[nodiscard]] FileWriterPointer UseWriter(const NodePointer& node, std::uint64_t length);
  [[nodiscard]] int OpenNode(const CallPointer& call, const NodePointer& node,
                             fuse_file_info& info, std::shared_ptr<OpenFile>& opened);
  [[nodiscard]] int PrepareWriter(const CallPointer& call, OpenFile& file, int flags,
                                  std::uint64_t length);
  [[nodiscard]] int CreateFile(const CallPointer& call, NodeId parent, const std::string& name,
                               mode_t mode, fuse_file_info info);
  [[nodiscard]] int OpenPresent(const CallPointer& call, const NodePointer& parent,
                                const std::string& name, fuse_file_info info);
  void AnswerCreated(const CallPointer& call, const client::FileStatus& status, OpenFile& file,
                     const fuse_file_info& info);
  // Whether the kernel's pages of the file can stay.
  [[nodiscard]] bool PagesAreRight(OpenFile& file, const Version& version);
  // The number of a file that is open now; 0 if too many are.
  [[nodiscard]] std::uint64_t AddFile(const std::shared_ptr<OpenFile>& file);
  // Closes a file whose opening the kernel did not learn of.
  void Drop(OpenFile& file, std::uint64_t number);
  // Gives back what the descriptor holds. The error is that of an unfinished file.
  [[nodiscard]] Status Release(OpenFile& file);

  // Lets a read up to `end` see what was written through this mount before.
  [[nodiscard]] Status PrepareReader(OpenFile& file, std::uint64_t end);
  [[nodiscard]] int ReadData(const CallPointer& call, OpenFile& file, std::size_t size,
                             std::uint64_t offset);
  [[nodiscard]] int WriteData(const CallPointer& call, OpenFile& file,
                              std::span<const std::byte> data, std::uint64_t offset,
                              bool appends);

  client::FileSystem& files_;
  const MountOptions options_;
  Log& log_;
  std::atomic<fuse_session*> session_ = nullptr;
  std::atomic<bool> stopping_ = false;
  Users users_;
  NodeTable nodes_;
  HandleTable<OpenFile> open_files_;
  HandleTable<OpenDirectory> open_directories_;
  DirtyBytes dirty_;
  // Bytes of writes that wait for a thread.
  std::atomic<std::uint64_t> waiting_bytes_ = 0;
  ActiveCalls calls_;
  // The last: its threads use the rest.
  WorkerPool pool_;
};

}  // namespace ebb::mount
