// MD5 (RFC 1321). The file checksums of HDFS use it. It is not used for security.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ebb::transfer {

using Md5Digest = std::array<std::byte, 16>;

[[nodiscard]] Md5Digest Md5(std::span<const std::byte> data);

}  // namespace ebb::transfer
