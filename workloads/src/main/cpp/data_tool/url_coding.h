// Fields of lines, as java.net.URLEncoder and URLDecoder write and read them.
#pragma once

#include <string>
#include <string_view>

namespace ebb::data_tool {

[[nodiscard]] std::string UrlEncoded(std::string_view text);
// A '%' without two hexadecimal digits stands for itself.
[[nodiscard]] std::string UrlDecoded(std::string_view text);

}  // namespace ebb::data_tool
