// Unix domain sockets: where one may be made, and how open files go through one.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/error.h"
#include "common/socket.h"

namespace ebb {

// Whether only root and the user of this process can put another socket in the place of this one:
// each directory above it belongs to one of them, and nobody else may write there. A client that
// takes the socket for ours would read what somebody else lets it read. HDFS's client and DataNode
// check the same. kInvalid names the directory and says what to change.
[[nodiscard]] Status CheckSocketPath(const std::string& path);

// Sends one byte together with open files, which the peer can use as its own from then on.
[[nodiscard]] Status SendDescriptors(Socket& socket, std::span<const int> descriptors,
                                     std::byte byte, Timeout timeout);

}  // namespace ebb
