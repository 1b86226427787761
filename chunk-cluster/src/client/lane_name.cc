#include "client/lane_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ebb::client {

namespace {

constexpr std::size_t kSlotDigits = 2;
constexpr std::size_t kGenerationDigits = 15;
constexpr std::size_t kLaneLetters = kSlotDigits + 1 + kGenerationDigits;
// A dash and the number of the next record.
constexpr std::size_t kNextLetters = 1 + 18;

std::string LanePrefix(const char* kind, std::uint64_t file_id) {
  return fmt::format(".append-{}-{}-", kind, file_id);
}

bool AreDigits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string LaneName::Block() const {
  return fmt::format("{}{}{}{:015d}", directory, Blocks(file_id), SlotPrefix(slot), generation);
}

std::string LaneName::Ledger() const {
  return fmt::format("{}{}{}{:015d}", directory, Ledgers(file_id), SlotPrefix(slot), generation);
}

LaneName LaneName::Next() const {
  LaneName next = *this;
  ++next.generation;
  return next;
}

std::string LaneName::Ledgers(std::uint64_t file_id) { return LanePrefix("ledger", file_id); }

std::string LaneName::Blocks(std::uint64_t file_id) { return LanePrefix("lane", file_id); }

std::string LaneName::SlotPrefix(int slot) { return fmt::format("{:02d}-", slot); }

std::optional<LaneName> LaneName::Of(const std::string& directory, const std::string& prefix,
                                     std::uint64_t file_id, const std::string& name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string rest = name.substr(prefix.size());
  if (rest.size() != kLaneLetters || rest[kSlotDigits] != '-') return std::nullopt;
  const std::string slot = rest.substr(0, kSlotDigits);
  const std::string generation = rest.substr(kSlotDigits + 1);
  if (!AreDigits(slot) || !AreDigits(generation)) return std::nullopt;
  return LaneName{directory, file_id, std::stoi(slot), std::stoll(generation)};
}

std::string LaneName::Writers(std::uint64_t file_id) { return LanePrefix("writer", file_id); }

std::optional<LaneName> LaneName::OfWriter(const std::string& directory, std::uint64_t file_id,
                                           const std::string& name) {
  if (!name.starts_with(Writers(file_id)) || name.size() < kLaneLetters + kNextLetters) {
    return std::nullopt;
  }
  return Of(directory, "", file_id,
            name.substr(name.size() - kLaneLetters - kNextLetters, kLaneLetters));
}

}  // namespace ebb::client
