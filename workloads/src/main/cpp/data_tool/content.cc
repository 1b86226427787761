#include "data_tool/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data_tool/java_random.h"

namespace ebb::data_tool {

namespace {

constexpr std::size_t kPeriod = 1'048'573;

// What String.hashCode returns for the last name of the path, with the slash before it.
std::uint32_t HashOfName(const std::string& path) {
  std::uint32_t hash = 0;
  for (std::size_t i = path.rfind('/'); i < path.size(); ++i) {
    hash = hash * 31 + static_cast<unsigned char>(path[i]);
  }
  return hash;
}

}  // namespace

// The first bytes follow once more after the last ones, so that no piece has to be put together.
Content::Content() : pattern_(kPeriod + kPieceBytes) {
  JavaRandom(1).FillBytes(std::span(pattern_).first(kPeriod));
  std::copy_n(pattern_.begin(), kPieceBytes, pattern_.begin() + kPeriod);
}

std::span<const std::byte> Content::At(const std::string& path, std::uint64_t offset,
                                       std::size_t count) const {
  const auto place = static_cast<std::size_t>((HashOfName(path) + offset) % kPeriod);
  return std::span(pattern_).subspan(place, std::min(count, kPieceBytes));
}

Status Content::Check(const std::string& path, std::uint64_t offset,
                      std::span<const std::byte> found) const {
  for (std::size_t done = 0; done < found.size();) {
    const auto expected = At(path, offset + done, found.size() - done);
    const auto piece = found.subspan(done, expected.size());
    if (std::memcmp(piece.data(), expected.data(), piece.size()) != 0) {
      const auto wrong =
          static_cast<std::size_t>(std::ranges::mismatch(piece, expected).in1 - piece.begin());
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{} is wrong at offset {}", path, offset + done + wrong));
    }
    done += piece.size();
  }
  return {};
}

}  // namespace ebb::data_tool
