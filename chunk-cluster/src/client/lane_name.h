// The names of the two files of a lane of record appends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ebb::client {

// The two files lie beside the file to which the lane belongs. No name is used twice: the newest
// ledger of a slot stays, and the next lane of the slot has the next generation. The first
// generation is the time in milliseconds, in case all ledgers were removed. The names hold the
// inode and not the name of the file, so that a lane is found after the file was renamed.
// docs/record-append.md.
struct LaneName {
  // With a slash at its end.
  std::string directory;
  // The inode of the file.
  std::uint64_t file_id = 0;
  // From 0 to the number of lanes.
  int slot = 0;
  std::int64_t generation = 0;

  bool operator==(const LaneName&) const = default;

  // The paths of the block and of the ledger.
  [[nodiscard]] std::string Block() const;
  [[nodiscard]] std::string Ledger() const;
  [[nodiscard]] LaneName Next() const;

  // The beginnings of the names of all ledgers of a file, and of the blocks of all its lanes.
  [[nodiscard]] static std::string Ledgers(std::uint64_t file_id);
  [[nodiscard]] static std::string Blocks(std::uint64_t file_id);
  // The beginning of the names of a slot, behind one of these two.
  [[nodiscard]] static std::string SlotPrefix(int slot);
  // The lane of the ledger, or of the block, with this name. `prefix` is Ledgers() or Blocks() of
  // the file. Nothing if the name is no such name.
  [[nodiscard]] static std::optional<LaneName> Of(const std::string& directory,
                                                  const std::string& prefix, std::uint64_t file_id,
                                                  const std::string& name);
  // The beginning of the names of the files that stand for writers with ids of their own.
  [[nodiscard]] static std::string Writers(std::uint64_t file_id);
  // The lane that such a file tells: its ledger tells which records of the writer are stored.
  // Generation 0 is no lane. Nothing if the name is no such name.
  [[nodiscard]] static std::optional<LaneName> OfWriter(const std::string& directory,
                                                        std::uint64_t file_id,
                                                        const std::string& name);
};

}  // namespace ebb::client
