// The type of a disk, by which storage policies choose.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ebb {

// The values are the numbers in HDFS's StorageTypeProto.
enum class StorageType : std::uint8_t {
  kDisk = 1,
  kSsd = 2,
  kArchive = 3,
  kRamDisk = 4,
  kNvdimm = 6,
};

// The name as HDFS writes it.
[[nodiscard]] std::string_view NameOf(StorageType type);
// Empty if no type has the name.
[[nodiscard]] std::optional<StorageType> StorageTypeByName(std::string_view name);

}  // namespace ebb
