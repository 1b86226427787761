// Which addresses are those of this machine.
#pragma once

#include <string>

namespace ebb::client {

// Whether an interface of this machine had the address, written in figures, when the process first
// asked. Thread-safe.
[[nodiscard]] bool IsLocalAddress(const std::string& address);

}  // namespace ebb::client
