#include "mount/node_table.h"

#include <algorithm>
#include <vector>

namespace ebb::mount {

namespace {

constexpr char kSnapshots[] = ".snapshot";

}  // namespace

Node::Node(NodeId id, std::shared_ptr<Node> parent, std::string name, std::uint64_t file_id)
    : id_(id),
      file_id_(file_id),
      in_snapshot_(parent != nullptr && (parent->in_snapshot_ || name == kSnapshots)),
      parent_(std::move(parent)),
      name_(std::move(name)) {}

NodeTable::NodeTable(const std::string& root)
    : root_path_(root == "/" ? "" : root),
      root_(std::make_shared<Node>(kRootNode, nullptr, "", 0)) {}

NodePointer NodeTable::Find(NodeId id) const {
  if (id == kRootNode) return root_;
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : found->second;
}

NodePointer NodeTable::Look(const NodePointer& parent, const std::string& name,
                            std::uint64_t file_id) {
  const std::lock_guard lock(mutex_);
  const Key key{parent->id(), name};
  const auto present = names_.find(key);
  if (present != names_.end()) {
    const NodePointer node = present->second;
    if (node->file_id() == file_id) {
      ++node->lookups_;
      return node;
    }
    Detach(key);
  }
  auto node = std::make_shared<Node>(next_++, parent, name, file_id);
  node->lookups_ = 1;
  nodes_[node->id()] = node;
  names_[key] = node;
  return node;
}

void NodeTable::Forget(NodeId id, std::uint64_t lookups) {
  NodePointer forgotten;  // Its destruction may end a chain of parents: without the lock.
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return;
  forgotten = found->second;
  forgotten->lookups_ -= std::min(forgotten->lookups_, lookups);
  if (forgotten->lookups_ > 0) return;
  if (!forgotten->gone_) names_.erase(Key{forgotten->parent_->id(), forgotten->name_});
  nodes_.erase(found);
}

std::optional<std::string> NodeTable::PathOf(const Node& node) const {
  const std::lock_guard lock(mutex_);
  auto path = Walk(node);
  if (path && path->empty()) return "/";
  return path;
}

std::optional<std::string> NodeTable::PathOf(const Node& parent, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  auto path = Walk(parent);
  if (path) *path += "/" + name;
  return path;
}

std::optional<std::string> NodeTable::Walk(const Node& node) const {
  std::vector<const std::string*> names;
  for (const Node* at = &node; at->id() != kRootNode; at = at->parent_.get()) {
    if (at->gone_) return std::nullopt;
    names.push_back(&at->name_);
  }
  std::string path = root_path_;
  for (auto name = names.rbegin(); name != names.rend(); ++name) path += "/" + **name;
  return path;
}

void NodeTable::Detach(const Key& key) {
  const auto found = names_.find(key);
  if (found == names_.end()) return;
  found->second->gone_ = true;
  names_.erase(found);
}

void NodeTable::Remove(const NodePointer& parent, const std::string& name) {
  const std::lock_guard lock(mutex_);
  Detach(Key{parent->id(), name});
}

void NodeTable::Rename(const NodePointer& parent, const std::string& name,
                       const NodePointer& new_parent, const std::string& new_name) {
  const std::lock_guard lock(mutex_);
  const Key from{parent->id(), name};
  const Key to{new_parent->id(), new_name};
  if (from == to) return;
  Detach(to);
  const auto found = names_.find(from);
  if (found == names_.end()) return;
  const NodePointer node = found->second;
  names_.erase(found);
  node->parent_ = new_parent;
  node->name_ = new_name;
  names_[to] = node;
}

std::size_t NodeTable::size() const {
  const std::lock_guard lock(mutex_);
  return nodes_.size();
}

}  // namespace ebb::mount
