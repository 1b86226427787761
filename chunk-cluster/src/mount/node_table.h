// The names that the kernel knows: each has a number, its node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "mount/file_state.h"

namespace ebb::mount {

using NodeId = std::uint64_t;
inline constexpr NodeId kRootNode = 1;

class NodeTable;

// A name that stands for one file or directory. If the name stands for another one later, that is
// another node.
class Node {
 public:
  Node(NodeId id, std::shared_ptr<Node> parent, std::string name, std::uint64_t file_id);

  [[nodiscard]] NodeId id() const { return id_; }
  // The namenode's number of the file.
  [[nodiscard]] std::uint64_t file_id() const { return file_id_; }
  // Files in snapshots have the number of the file of today.
  [[nodiscard]] bool in_snapshot() const { return in_snapshot_; }
  // What the mount knows of the file. Thread-safe.
  [[nodiscard]] FileState& state() { return state_; }

 private:
  friend class NodeTable;

  const NodeId id_;
  const std::uint64_t file_id_;
  const bool in_snapshot_;
  FileState state_;
  // These belong to the table. A parent is kept while it has children.
  std::shared_ptr<Node> parent_;
  std::string name_;
  std::uint64_t lookups_ = 0;
  // The name was removed, or stands for another file.
  bool gone_ = false;
};

using NodePointer = std::shared_ptr<Node>;

// Thread-safe. A node lives until the kernel has forgotten all lookups that it got.
class NodeTable {
 public:
  // `root`: the path that is mounted.
  explicit NodeTable(const std::string& root);

  [[nodiscard]] const NodePointer& root() const { return root_; }
  // Null for a number that was forgotten.
  [[nodiscard]] NodePointer Find(NodeId id) const;
  // The node of a name, with one more lookup.
  [[nodiscard]] NodePointer Look(const NodePointer& parent, const std::string& name,
                                 std::uint64_t file_id);
  void Forget(NodeId id, std::uint64_t lookups);

  // Nothing if the node or a directory above it has lost its name.
  [[nodiscard]] std::optional<std::string> PathOf(const Node& node) const;
  [[nodiscard]] std::optional<std::string> PathOf(const Node& parent,
                                                  const std::string& name) const;

  // The name is gone, or gets another directory and name, where it takes the place of a node.
  void Remove(const NodePointer& parent, const std::string& name);
  void Rename(const NodePointer& parent, const std::string& name, const NodePointer& new_parent,
              const std::string& new_name);

  [[nodiscard]] std::size_t size() const;

 private:
  struct Key {
    NodeId parent;
    std::string name;
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string>()(key.name) ^ (key.parent * 0x9E3779B97F4A7C15);
    }
  };
  // These want the mutex.
  [[nodiscard]] std::optional<std::string> Walk(const Node& node) const;
  void Detach(const Key& key);

  const std::string root_path_;
  const NodePointer root_;
  mutable std::mutex mutex_;
  NodeId next_ = kRootNode + 1;
  std::unordered_map<NodeId, NodePointer> nodes_;
  std::unordered_map<Key, NodePointer, HashOfKey> names_;
};

}  // namespace ebb::mount
