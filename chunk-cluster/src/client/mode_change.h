// Changes of rights as chmod takes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ebb::client {

// "755", "1777", or symbols such as "u+x,go-w", "a=rX" and "+t". Pure.
class ModeChange {
 public:
  // Nothing if the text is no such change.
  [[nodiscard]] static std::optional<ModeChange> Parse(const std::string& text);

  [[nodiscard]] std::uint32_t Apply(std::uint32_t mode, bool directory) const;

 private:
  struct Step {
    // The bits of the users: 0700, 0070 and 0007.
    std::uint32_t who = 0;
    char operation = '+';
    // Bits for one user, repeated for all three.
    std::uint32_t rights = 0;
    // X: to search directories, and to run what somebody may run already.
    bool maybe_run = false;
    bool sticky = false;
  };

  std::optional<std::uint32_t> octal_;
  std::vector<Step> steps_;
};

}  // namespace ebb::client
