// setrep
#include <charconv>
#include <chrono>
#include <thread>

#include "cli/commands.h"

namespace ebb::cli {

namespace {

constexpr auto kPoll = std::chrono::seconds(1);

Result<bool> Arrived(const Item& item, std::uint32_t wanted) {
  EBB_ASSIGN(const auto located, item.files->Blocks(item.path, 0, INT64_MAX));
  for (const auto& block : located.blocks()) {
    if (static_cast<std::uint32_t>(block.locs_size()) != wanted) return false;
  }
  return true;
}

Status AwaitReplicas(Shell& shell, const Item& item, std::uint32_t wanted) {
  shell.Print("Waiting for {} ...", item.text);
  for (;;) {
    EBB_ASSIGN(const bool arrived, Arrived(item, wanted));
    if (arrived) break;
    shell.Print(".");
    std::fflush(stdout);
    std::this_thread::sleep_for(kPoll);
  }
  shell.Print(" done\n");
  return {};
}

}  // namespace

Result<int> RunSetrep(Shell& shell, Words words) {
  const std::string text = words.rest[0];
  words.rest.erase(words.rest.begin());
  int wanted = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
  if (error != std::errc() || end != text.data() + text.size() || wanted > INT16_MAX) {
    shell.Tell("setrep: Illegal replication, a positive integer expected");
    return Misuse(fmt::format("For input string: \"{}\"", text));
  }
  if (wanted < 1) return Misuse("replication must be >= 1");
  const auto replication = static_cast<std::uint32_t>(wanted);
  std::vector<Item> changed;
  shell.ForEachExisting(words.rest, [&](Item& item) -> Status {
    shell.Walk(item, [&](Item& file) -> Status {
      if (!file.IsFile()) return {};
      if (file.status->erasure) {
        shell.Print("Did not set replication for: {}, because it's an erasure coded file.\n",
                    file.text);
        return {};
      }
      EBB_ASSIGN(const bool set, file.files->SetReplication(file.path, replication));
      if (!set) {
        return Fail(ErrorCode::kInvalid,
                    fmt::format("Could not set replication for: {}", file.text));
      }
      shell.Print("Replication {} set: {}\n", wanted, file.text);
      if (words.Has("w")) changed.push_back(file);
      return {};
    });
    return {};
  });
  for (const auto& item : changed) shell.Complain(AwaitReplicas(shell, item, replication));
  return 0;
}

}  // namespace ebb::cli
