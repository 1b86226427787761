#include "client/site_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "client/text.h"

namespace ebb::client {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

void AppendUtf8(std::string& out, unsigned long code) {
  const auto push = [&](unsigned long bits) { out.push_back(static_cast<char>(bits)); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xC0 | code >> 6);
    push(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    push(0xE0 | code >> 12);
    push(0x80 | (code >> 6 & 0x3F));
    push(0x80 | (code & 0x3F));
  } else {
    push(0xF0 | code >> 18);
    push(0x80 | (code >> 12 & 0x3F));
    push(0x80 | (code >> 6 & 0x3F));
    push(0x80 | (code & 0x3F));
  }
}

// Cuts the text into tags and characters.
class Scanner {
 public:
  explicit Scanner(std::string_view xml) : xml_(xml) {}

  struct Token {
    bool tag = false;
    // Of a tag: "name", "/name" or "name/", without attributes. Else characters, decoded.
    std::string text;
  };

  [[nodiscard]] bool AtEnd() const { return at_ >= xml_.size(); }

  [[nodiscard]] Result<Token> Next() {
    if (xml_.substr(at_).starts_with("<!--")) return Skipped("-->", false);
    if (xml_.substr(at_).starts_with("<![CDATA[")) return Skipped("]]>", true);
    if (xml_.substr(at_).starts_with("<?")) return Skipped("?>", false);
    if (xml_[at_] == '<') return Tag();
    return Characters();
  }

  [[nodiscard]] std::unexpected<Error> Mistake(std::string_view what) const {
    const auto line = 1 + std::count(xml_.begin(), xml_.begin() + static_cast<long>(at_), '\n');
    return Fail(ErrorCode::kInvalid, fmt::format("line {}: {}", line, what));
  }

 private:
  static constexpr std::size_t kOpening = 9;  // of "<![CDATA["

  Result<Token> Skipped(std::string_view end, bool keep) {
    const auto to = xml_.find(end, at_);
    if (to == std::string_view::npos) return Mistake(fmt::format("'{}' is missing", end));
    Token token;
    if (keep) token.text = xml_.substr(at_ + kOpening, to - at_ - kOpening);
    at_ = to + end.size();
    return token;
  }

  Result<Token> Tag() {
    const auto to = xml_.find('>', at_);
    if (to == std::string_view::npos) return Mistake("'>' is missing");
    std::string_view inside = xml_.substr(at_ + 1, to - at_ - 1);
    const bool empty = inside.ends_with('/');
    if (empty) inside.remove_suffix(1);
    Token token{true, std::string(inside.substr(0, inside.find_first_of(kBlanks)))};
    if (token.text == "xi:include") return Mistake("xi:include is not supported; copy the file in");
    if (empty) token.text += '/';
    at_ = to + 1;
    return token;
  }

  Result<Token> Characters() {
    const auto to = std::min(xml_.find('<', at_), xml_.size());
    Token token;
    while (at_ < to) {
      if (xml_[at_] == '&') {
        EBB_TRY(Entity(token.text));
      } else {
        token.text.push_back(xml_[at_++]);
      }
    }
    return token;
  }

  Status Entity(std::string& out) {
    const auto to = xml_.find(';', at_);
    if (to == std::string_view::npos || to - at_ > 10) return Mistake("'&' without ';'");
    const std::string name(xml_.substr(at_ + 1, to - at_ - 1));
    if (name == "lt") {
      out += '<';
    } else if (name == "gt") {
      out += '>';
    } else if (name == "amp") {
      out += '&';
    } else if (name == "quot") {
      out += '"';
    } else if (name == "apos") {
      out += '\'';
    } else if (name.starts_with("#x")) {
      AppendUtf8(out, std::strtoul(name.c_str() + 2, nullptr, 16));
    } else if (name.starts_with("#")) {
      AppendUtf8(out, std::strtoul(name.c_str() + 1, nullptr, 10));
    } else {
      return Mistake(fmt::format("unknown entity '&{};'", name));
    }
    at_ = to + 1;
    return {};
  }

  const std::string_view xml_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Property>> ParseSiteFile(std::string_view xml) {
  Scanner scanner(xml);
  std::vector<Property> properties;
  Property property;
  std::string text;
  bool inside = false;
  while (!scanner.AtEnd()) {
    EBB_ASSIGN(const auto token, scanner.Next());
    if (!token.tag) {
      text += token.text;
      continue;
    }
    if (token.text == "property") {
      property = {};
      inside = true;
    } else if (token.text == "/property") {
      if (!inside || property.name.empty()) return scanner.Mistake("a property without a name");
      properties.push_back(std::move(property));
      inside = false;
    } else if (token.text == "/name") {
      property.name = Stripped(text);
    } else if (token.text == "/value") {
      property.value = text;
    } else if (token.text == "/final") {
      property.final = Stripped(text) == "true";
    }
    text.clear();
  }
  if (inside) return scanner.Mistake("'</property>' is missing");
  return properties;
}

}  // namespace ebb::client
