// Names and values of extended attributes as text.
#pragma once

#include <cstdint>
#include <string>

#include "common/error.h"
#include "xattr.pb.h"

namespace ebb::client {

enum class ValueCoding : std::uint8_t { kText, kHex, kBase64 };

// "user.NAME", "trusted.NAME", ... kInvalid without a known prefix.
[[nodiscard]] Result<hadoop::hdfs::XAttrProto> ParseXAttrName(const std::string& text);
// With its prefix in lower case.
[[nodiscard]] std::string XAttrName(const hadoop::hdfs::XAttrProto& attribute);

// The bytes of "TEXT" with or without quotes, of 0xHEX and of 0sBASE64.
[[nodiscard]] Result<std::string> ParseXAttrValue(const std::string& text);
[[nodiscard]] std::string XAttrValueText(const std::string& value, ValueCoding coding);

}  // namespace ebb::client
