#include "disk/storage_type.h"

namespace ebb {

namespace {

constexpr StorageType kTypes[] = {StorageType::kDisk, StorageType::kSsd, StorageType::kArchive,
                                  StorageType::kRamDisk, StorageType::kNvdimm};

}  // namespace

std::string_view NameOf(StorageType type) {
  switch (type) {
    case StorageType::kDisk:
      return "DISK";
    case StorageType::kSsd:
      return "SSD";
    case StorageType::kArchive:
      return "ARCHIVE";
    case StorageType::kRamDisk:
      return "RAM_DISK";
    case StorageType::kNvdimm:
      return "NVDIMM";
  }
  return "DISK";
}

std::optional<StorageType> StorageTypeByName(std::string_view name) {
  for (const auto type : kTypes) {
    if (NameOf(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace ebb
