#include "client/acl_text.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>

#include "client/text.h"

namespace ebb::client {

namespace {

using hadoop::hdfs::AclEntryProto;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<AclEntryProto::AclEntryTypeProto> TypeOf(const std::string& text) {
  const std::string name = LowerCase(text);
  if (name == "user") return AclEntryProto::USER;
  if (name == "group") return AclEntryProto::GROUP;
  if (name == "mask") return AclEntryProto::MASK;
  if (name == "other") return AclEntryProto::OTHER;
  return std::nullopt;
}

std::optional<unsigned> RightsOf(std::string_view text) {
  constexpr std::string_view kAll = "rwx";
  if (text.size() != kAll.size()) return std::nullopt;
  unsigned rights = 0;
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    if (text[i] != kAll[i] && text[i] != '-') return std::nullopt;
    rights = rights << 1 | (text[i] == '-' ? 0U : 1U);
  }
  return rights;
}

std::unexpected<Error> Wrong(const char* what, const std::string& entry) {
  return Fail(ErrorCode::kInvalid, fmt::format("Invalid {}{}", what, entry));
}

Result<AclEntryProto> ParseEntry(const std::string& text, bool rights) {
  auto parts = Split(text, ':');
  // As for HDFS, colons at the end mean nothing.
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  AclEntryProto entry;
  auto part = parts.begin();
  const bool is_default = part != parts.end() && *part == "default";
  if (is_default) ++part;
  entry.set_scope(is_default ? AclEntryProto::DEFAULT : AclEntryProto::ACCESS);
  if (part == parts.end()) return Wrong("<aclSpec> : ", text);
  const auto type = TypeOf(*part++);
  if (!type) return Wrong("type of acl in <aclSpec> :", text);
  entry.set_type(*type);
  entry.set_permissions(AclEntryProto::NONE);
  if (part != parts.end() && !part->empty()) entry.set_name(*part);
  if (part != parts.end()) ++part;
  if (rights) {
    if (part == parts.end()) return Wrong("<aclSpec> : ", text);
    const auto bits = RightsOf(*part++);
    if (!bits) return Wrong("permission in <aclSpec> : ", text);
    entry.set_permissions(static_cast<AclEntryProto::FsActionProto>(*bits));
  }
  if (part != parts.end()) return Wrong("<aclSpec> : ", text);
  return entry;
}

}  // namespace

Result<std::vector<AclEntryProto>> ParseAcl(const std::string& text, bool rights) {
  std::vector<AclEntryProto> entries;
  for (const auto& part : Split(text, ',')) {
    if (part.empty()) continue;
    EBB_ASSIGN(auto entry, ParseEntry(part, rights));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace ebb::client
