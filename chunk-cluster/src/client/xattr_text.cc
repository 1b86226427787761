#include "client/xattr_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "client/text.h"

namespace ebb::client {

using hadoop::hdfs::XAttrProto;

namespace {

using Namespace = hadoop::hdfs::XAttrProto_XAttrNamespaceProto;

constexpr std::array<std::pair<std::string_view, Namespace>, 5> kNamespaces = {{
    {"user.", XAttrProto::USER},
    {"trusted.", XAttrProto::TRUSTED},
    {"system.", XAttrProto::SYSTEM},
    {"security.", XAttrProto::SECURITY},
    {"raw.", XAttrProto::RAW},
}};

constexpr std::string_view kDigits64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Result<std::string> FromHex(const std::string& digits) {
  std::string bytes;
  if (digits.size() % 2 != 0 ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return Fail(ErrorCode::kInvalid, fmt::format("'0x{}' is no hexadecimal value", digits));
  }
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

Result<std::string> FromBase64(std::string digits) {
  while (digits.ends_with('=')) digits.pop_back();
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char digit : digits) {
    const auto value = kDigits64.find(digit);
    if (value == std::string_view::npos) {
      return Fail(ErrorCode::kInvalid, fmt::format("'0s{}' is no base64 value", digits));
    }
    bits = bits << 6 | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<char>(bits >> (count -= 8) & 0xFF));
  }
  return bytes;
}

std::string ToBase64(const std::string& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? kDigits64[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

}  // namespace

Result<XAttrProto> ParseXAttrName(const std::string& text) {
  const std::string lower = LowerCase(text);
  for (const auto& [prefix, space] : kNamespaces) {
    if (!lower.starts_with(prefix)) continue;
    XAttrProto attribute;
    attribute.set_namespace_(space);
    attribute.set_name(text.substr(prefix.size()));
    return attribute;
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("An XAttr name must be prefixed with user/trusted/security/system/raw, "
                          "followed by a '.': {}",
                          text));
}

std::string XAttrName(const XAttrProto& attribute) {
  for (const auto& [prefix, space] : kNamespaces) {
    if (space == attribute.namespace_()) return std::string(prefix) + attribute.name();
  }
  return attribute.name();
}

Result<std::string> ParseXAttrValue(const std::string& text) {
  if (text.size() > 2 && LowerCase(text).starts_with("0x")) return FromHex(text.substr(2));
  if (text.size() > 2 && LowerCase(text).starts_with("0s")) return FromBase64(text.substr(2));
  const bool quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string XAttrValueText(const std::string& value, ValueCoding coding) {
  if (coding == ValueCoding::kText) return '"' + value + '"';
  if (coding == ValueCoding::kBase64) return "0s" + ToBase64(value);
  std::string text = "0x";
  for (const char c : value) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

}  // namespace ebb::client
