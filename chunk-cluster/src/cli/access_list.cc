// getfacl, setfacl
#include "cli/commands.h"
#include "client/acl_text.h"

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

using AclEntries = client::FileSystem::AclEntries;

// Only directories have default entries.
AclEntries AccessOnly(AclEntries entries) {
  std::erase_if(entries,
                [](const auto& entry) { return entry.scope() == AclEntryProto::DEFAULT; });
  return entries;
}

Status ChangeAcl(const Words& words, const Item& item, const AclEntries& all) {
  auto& files = *item.files;
  if (words.Has("b")) return files.RemoveAcl(item.path);
  if (words.Has("k")) return files.RemoveDefaultAcl(item.path);
  const auto entries = words.Has("R") && !item.IsDirectory() ? AccessOnly(all) : all;
  if (entries.empty()) return {};
  if (words.Has("m")) return files.ModifyAcl(item.path, entries);
  if (words.Has("x")) return files.RemoveAclEntries(item.path, entries);
  return files.SetAcl(item.path, entries);
}

Status CheckOptions(const Words& words) {
  int changes = 0;
  for (const char* option : {"b", "k", "m", "x", "-set"}) changes += words.Has(option) ? 1 : 0;
  if (changes > 1) return Misuse("Specified flags contains both remove and modify flags");
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

Result<int> RunSetfacl(Shell& shell, Words words) {
  EBB_TRY(CheckOptions(words));
  AclEntries entries;
  if (words.Has("m") || words.Has("x") || words.Has("-set")) {
    if (words.rest.size() < 2) return Misuse("<acl_spec> is missing");
    auto parsed = client::ParseAcl(words.rest[0], !words.Has("x"));
    if (!parsed) return Misuse(parsed.error().message);
    entries = std::move(*parsed);
    words.rest.erase(words.rest.begin());
  }
  if (words.rest.empty()) return Misuse("<path> is missing");
  if (words.rest.size() > 1) return Misuse("Too many arguments");
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    const auto change = [&](Item& one) { return ChangeAcl(words, one, entries); };
    if (!words.Has("R")) return change(item);
    shell.Walk(item, change);
    return {};
  });
  return 0;
}

}  // namespace ebb::cli
