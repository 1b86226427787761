// getfattr, setfattr
#include <algorithm>
#include <optional>

#include "cli/commands.h"
#include "client/xattr_text.h"

namespace ebb::cli {

namespace {

using hadoop::hdfs::XAttrProto;

// Takes an option and its value out of the words.
std::optional<std::string> TakeValue(std::vector<std::string>& words, const std::string& option) {
  const auto found = std::ranges::find(words, option);
  if (found == words.end() || found + 1 == words.end()) return std::nullopt;
  std::string value = *(found + 1);
  words.erase(found, found + 2);
  return value;
}

bool TakeFlag(std::vector<std::string>& words, const std::string& option) {
  const auto found = std::ranges::find(words, option);
  if (found == words.end()) return false;
  words.erase(found);
  return true;
}

Status CheckOnePath(const std::vector<std::string>& rest) {
  if (rest.empty()) return Misuse("<path> is missing");
  if (rest.size() > 1) return Misuse("Too many arguments");
  return {};
}

Result<client::ValueCoding> ParseCoding(const std::string& text) {
  if (text == "text") return client::ValueCoding::kText;
  if (text == "hex") return client::ValueCoding::kHex;
  if (text == "base64") return client::ValueCoding::kBase64;
  return Misuse(fmt::format("Invalid/unsupported encoding option specified: {}", text));
}

void ShowAttribute(Shell& shell, const XAttrProto& attribute, client::ValueCoding coding) {
  const std::string name = client::XAttrName(attribute);
  if (attribute.value().empty()) return shell.Print("{}\n", name);
  shell.Print("{}={}\n", name, client::XAttrValueText(attribute.value(), coding));
}

}  // namespace

Result<int> RunGetfattr(Shell& shell, Words words) {
  auto& rest = words.rest;
  const auto name = TakeValue(rest, "-n");
  EBB_ASSIGN(const auto coding, ParseCoding(TakeValue(rest, "-e").value_or("text")));
  const bool all = TakeFlag(rest, "-d");
  const bool recursive = TakeFlag(rest, "-R");
  if (!name && !all) return Misuse("Must specify '-n name' or '-d' option.");
  EBB_TRY(CheckOnePath(rest));
  std::vector<XAttrProto> wanted;
  if (name) {
    auto parsed = client::ParseXAttrName(*name);
    if (!parsed) return Misuse(parsed.error().message);
    wanted.push_back(std::move(*parsed));
  }
  const auto show = [&](Item& item) -> Status {
    shell.Print("# file: {}\n", item.text);
    EBB_ASSIGN(const auto attributes, item.files->XAttrs(item.path, wanted));
    for (const auto& attribute : attributes) ShowAttribute(shell, attribute, coding);
    return {};
  };
  shell.ForEachExisting(rest, [&](Item& item) -> Status {
    if (!recursive) return show(item);
    shell.Walk(item, show);
    return {};
  });
  return 0;
}

Result<int> RunSetfattr(Shell& shell, Words words) {
  auto& rest = words.rest;
  const auto name = TakeValue(rest, "-n");
  const auto removed = TakeValue(rest, "-x");
  const auto value = TakeValue(rest, "-v");
  if (name && removed) return Misuse("Can not specify both '-n name' and '-x name' option.");
  if (!name && !removed) return Misuse("Must specify '-n name' or '-x name' option.");
  EBB_TRY(CheckOnePath(rest));
  auto attribute = client::ParseXAttrName(name ? *name : *removed);
  if (!attribute) return Misuse(attribute.error().message);
  if (value) {
    EBB_ASSIGN(*attribute->mutable_value(), client::ParseXAttrValue(*value));
  }
  shell.ForEachExisting(rest, [&](Item& item) {
    return name ? item.files->SetXAttr(item.path, *attribute)
                : item.files->RemoveXAttr(item.path, *attribute);
  });
  return 0;
}

}  // namespace ebb::cli
