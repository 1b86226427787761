// The properties of a configuration file of Hadoop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace ebb::client {

struct Property {
  std::string name;
  std::string value;
  bool final = false;
};

// Reads <property> elements with <name>, <value> and <final>, in their order. Understands comments,
// CDATA, entities of characters and the declaration; other elements are skipped. kInvalid tells the
// line of a mistake.
[[nodiscard]] Result<std::vector<Property>> ParseSiteFile(std::string_view xml);

}  // namespace ebb::client
