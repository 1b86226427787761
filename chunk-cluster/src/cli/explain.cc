// explain
#include "cli/commands.h"
#include "cli/format.h"
#include "client/xattr_text.h"

namespace ebb::cli {

namespace {

constexpr std::uint64_t kBlocksAtOnce = 1000;

// What EbbFS tells of a file or directory in an attribute; nothing on another file system.
Result<std::optional<std::string>> Told(const Item& item, const char* name) {
  EBB_ASSIGN(const auto attribute, client::ParseXAttrName(name));
  auto values = item.files->XAttrs(item.path, {attribute});
  if (values && !values->empty()) return values->front().value();
  if (values) return std::nullopt;
  // HDFS says the same of attributes that it does not know.
  const bool absent = values.error().exception_class.ends_with("XAttrNotFoundException") ||
                      values.error().exception_message.contains("was not found");
  if (absent) return std::nullopt;
  return std::unexpected(values.error());
}

Status ShowAttributes(Shell& shell, const Item& item) {
  EBB_ASSIGN(const auto heat, Told(item, "user.ebbfs.heat"));
  if (!heat) {
    shell.Print("coding: unknown, because the namenode is not one of EbbFS\n");
    return {};
  }
  if (item.IsFile()) {
    EBB_ASSIGN(const auto state, Told(item, "user.ebbfs.state"));
    EBB_ASSIGN(const auto code, Told(item, "user.ebbfs.code"));
    shell.Print("coding: {}{}{}\n", state.value_or("unknown"), code ? " in " : "",
                code.value_or(""));
  }
  shell.Print("reads: {}\n", *heat);
  EBB_ASSIGN(const auto pin, Told(item, "user.ebbfs.pin"));
  shell.Print("pin: {}\n", pin.value_or("none of its own"));
  return {};
}

std::string ServersText(const hadoop::hdfs::LocatedBlockProto& block) {
  std::string text;
  for (const auto& server : block.locs()) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", server.id().ipaddr(),
                        server.id().xferport());
  }
  if (block.corrupt()) text += " (all replicas are corrupt)";
  return text.empty() ? "no server" : text;
}

Status ShowBlocks(Shell& shell, const Item& item) {
  std::size_t index = 0;
  for (std::uint64_t offset = 0; offset < item.status->length;) {
    EBB_ASSIGN(const auto located, item.files->Blocks(item.path, offset,
                                                      kBlocksAtOnce * item.status->block_bytes));
    if (located.blocks().empty()) break;
    for (const auto& block : located.blocks()) {
      shell.Print("block {}: id {}, {} bytes, read from {}\n", index++, block.b().blockid(),
                  block.b().numbytes(), ServersText(block));
      offset = block.offset() + block.b().numbytes();
    }
  }
  return {};
}

Status Explain(Shell& shell, const Item& item) {
  const auto& status = *item.status;
  if (item.IsDirectory()) {
    shell.Print("{}: directory of {}:{}, {}\n", item.text, status.owner, status.group,
                client::ModeText(status.mode));
    return ShowAttributes(shell, item);
  }
  shell.Print("{}: file of {}:{}, {}, {} bytes in blocks of {}, {} replicas wanted, changed {} "
              "UTC\n",
              item.text, status.owner, status.group, client::ModeText(status.mode), status.length,
              SizeText(static_cast<std::int64_t>(status.block_bytes), true), status.replication,
              UtcText(status.modified_millis));
  if (status.erasure) shell.Print("encoded by clients: {}\n", status.erasure->name);
  EBB_TRY(ShowAttributes(shell, item));
  return ShowBlocks(shell, item);
}

}  // namespace

Result<int> RunExplain(Shell& shell, Words words) {
  shell.ForEachExisting(words.rest, [&](Item& item) { return Explain(shell, item); });
  return 0;
}

}  // namespace ebb::cli
