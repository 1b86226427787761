// getfacl
#include "cli/commands.h"

namespace ebb::cli {

namespace {

using hadoop::hdfs::AclEntryProto;
using hadoop::hdfs::AclStatusProto;

std::string Rights(unsigned bits) {
  return fmt::format("{}{}{}", (bits & 4) != 0 ? 'r' : '-', (bits & 2) != 0 ? 'w' : '-',
                     (bits & 1) != 0 ? 'x' : '-');
}

const char* KindOf(const AclEntryProto& entry) {
  switch (entry.type()) {
    case AclEntryProto::USER:
      return "user";
    case AclEntryProto::GROUP:
      return "group";
    case AclEntryProto::MASK:
      return "mask";
    default:
      return "other";
  }
}

// One entry. What the mask forbids to users with a name and to groups is told behind it.
void ShowEntry(Shell& shell, const AclEntryProto& entry, unsigned mask) {
  const auto rights = static_cast<unsigned>(entry.permissions());
  const bool masked = entry.type() == AclEntryProto::GROUP ||
                      (entry.type() == AclEntryProto::USER && !entry.name().empty());
  shell.Print("{}{}:{}:{}", entry.scope() == AclEntryProto::DEFAULT ? "default:" : "",
              KindOf(entry), entry.name(), Rights(rights));
  if (masked && (rights & mask) != rights) shell.Print("\t#effective:{}", Rights(rights & mask));
  shell.Print("\n");
}

unsigned MaskOf(const AclStatusProto& acl) {
  unsigned mask = 7;
  for (const auto& entry : acl.entries()) {
    if (entry.scope() == AclEntryProto::DEFAULT && entry.type() == AclEntryProto::MASK) {
      mask = static_cast<unsigned>(entry.permissions());
    }
  }
  return mask;
}

AclEntryProto Entry(AclEntryProto::AclEntryTypeProto type, unsigned rights) {
  AclEntryProto entry;
  entry.set_scope(AclEntryProto::ACCESS);
  entry.set_type(type);
  entry.set_permissions(static_cast<AclEntryProto::FsActionProto>(rights & 7));
  return entry;
}

// The bits of the group are the mask, if a list is there; the rights of the group are an entry
// then.
void ShowAccess(Shell& shell, const AclStatusProto& acl, std::uint32_t mode) {
  bool listed = false;
  for (const auto& entry : acl.entries()) listed |= entry.scope() == AclEntryProto::ACCESS;
  const unsigned mask = listed ? mode >> 3 & 7 : 7;
  ShowEntry(shell, Entry(AclEntryProto::USER, mode >> 6), 7);
  for (const auto& entry : acl.entries()) {
    if (entry.scope() == AclEntryProto::ACCESS) ShowEntry(shell, entry, mask);
  }
  if (listed) {
    ShowEntry(shell, Entry(AclEntryProto::MASK, mask), 7);
  } else {
    ShowEntry(shell, Entry(AclEntryProto::GROUP, mode >> 3), 7);
  }
  ShowEntry(shell, Entry(AclEntryProto::OTHER, mode), 7);
}

Status ShowAcl(Shell& shell, const Item& item) {
  shell.Print("# file: {}\n# owner: {}\n# group: {}\n", item.text, item.status->owner,
              item.status->group);
  const auto mode = item.status->mode;
  if ((mode & 01000) != 0) shell.Print("# flags: --{}\n", (mode & 1) != 0 ? 't' : 'T');
  AclStatusProto acl;
  if (item.status->has_acl) {
    EBB_ASSIGN(acl, item.files->Acl(item.path));
  }
  ShowAccess(shell, acl, mode);
  const unsigned mask = MaskOf(acl);
  for (const auto& entry : acl.entries()) {
    if (entry.scope() == AclEntryProto::DEFAULT) ShowEntry(shell, entry, mask);
  }
  shell.Print("\n");
  return {};
}

}  // namespace

Result<int> RunGetfacl(Shell& shell, Words words) {
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    if (!words.Has("R")) return ShowAcl(shell, item);
    shell.Walk(item, [&](Item& one) { return ShowAcl(shell, one); });
    return {};
  });
  return 0;
}

}  // namespace ebb::cli
