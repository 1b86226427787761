// The name of the protocol that this program speaks.
#pragma once

#include <string_view>

namespace ebb::metadata_load {

inline constexpr std::string_view kClientProtocol =
    "org.apache.hadoop.hdfs.protocol.ClientProtocol";

}  // namespace ebb::metadata_load
