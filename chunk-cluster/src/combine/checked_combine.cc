#include "combine/checked_combine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "combine/slice_reader.h"

namespace ebb {

namespace {

constexpr std::size_t kPageBytes = 4096;

std::unexpected<Error> Refuse(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

Status CheckShape(const ebbfs::CombineRequestProto& request, const CombineLimits& limits) {
  const auto sources = static_cast<std::size_t>(request.sources_size());
  const auto targets = static_cast<std::size_t>(request.targets_size());
  if (request.id().empty()) return Refuse("the combine has no id; give it one");
  if (sources == 0 || sources > limits.max_sources) {
    return Refuse(fmt::format("the combine has {} sources; from 1 to {} are accepted", sources,
                              limits.max_sources));
  }
  if (targets == 0 || targets > limits.max_targets) {
    return Refuse(fmt::format("the combine has {} targets; from 1 to {} are accepted", targets,
                              limits.max_targets));
  }
  if (request.coefficients().size() != sources * targets) {
    return Refuse(fmt::format("{} coefficients for {} targets and {} sources; send {}",
                              request.coefficients().size(), targets, sources, sources * targets));
  }
  return {};
}

Status CheckBlocks(const ebbfs::CombineRequestProto& request, const CombineLimits& limits) {
  // Pairs of block id and server.
  std::set<std::pair<std::uint64_t, std::string>> sources;
  std::set<std::uint64_t> targets;
  const auto check_length = [&](const hadoop::hdfs::ExtendedBlockProto& block) -> Status {
    if (block.numbytes() <= limits.max_block_bytes) return {};
    return Refuse(fmt::format("block {} is announced with {} bytes; at most {} are accepted",
                              block.blockid(), block.numbytes(), limits.max_block_bytes));
  };
  for (const auto& source : request.sources()) {
    EBB_TRY(check_length(source.block()));
    if (source.block().numbytes() > 0 && source.locations_size() == 0) {
      return Refuse(fmt::format("source block {} has no location", source.block().blockid()));
    }
    for (const auto& location : source.locations()) {
      sources.emplace(source.block().blockid(), location.server().datanodeuuid());
    }
  }
  for (const auto& target : request.targets()) {
    EBB_TRY(check_length(target.block()));
    if (request.check()) continue;
    if (!targets.insert(target.block().blockid()).second) {
      return Refuse(fmt::format("block {} is named twice as a target", target.block().blockid()));
    }
    // A copy keeps its block id, and a server holds at most one block with an id.
    if (const auto& server = target.location().server().datanodeuuid();
        sources.contains({target.block().blockid(), server})) {
      return Refuse(fmt::format("block {} is a source and a target at server {}; copy it elsewhere",
                                target.block().blockid(), server));
    }
  }
  return {};
}

// The longest slice, up to the requested length, whose buffers fit into the memory.
Result<std::size_t> ChooseSlice(const ebbfs::CombineRequestProto& request,
                                const CombineLimits& limits, std::size_t sources,
                                std::uint64_t length) {
  const auto targets = static_cast<std::size_t>(request.targets_size());
  std::size_t slice = request.has_slicebytes() ? request.slicebytes() : limits.default_slice_bytes;
  const std::uint64_t whole = std::max<std::uint64_t>(1, length);
  slice = std::min<std::uint64_t>(slice, (whole + kPageBytes - 1) / kPageBytes * kPageBytes);
  slice = std::min(slice, limits.max_combine_bytes / (SliceReader::kDepth * sources + targets));
  slice = std::min(slice, limits.max_slice_bytes) / kPageBytes * kPageBytes;
  if (slice >= limits.min_slice_bytes) return slice;
  if (request.has_slicebytes() && request.slicebytes() < limits.min_slice_bytes) {
    return limits.min_slice_bytes;
  }
  return Refuse(
      fmt::format("{} sources and {} targets do not fit into {} bytes of buffers; split "
                  "the combine or raise the limit",
                  sources, targets, limits.max_combine_bytes));
}

}  // namespace

Result<CheckedCombine> CheckCombine(const ebbfs::CombineRequestProto& request,
                                    const CombineLimits& limits) {
  EBB_TRY(CheckShape(request, limits));
  EBB_TRY(CheckBlocks(request, limits));
  const auto sources = static_cast<std::size_t>(request.sources_size());
  const auto targets = static_cast<std::size_t>(request.targets_size());
  const std::span rows(reinterpret_cast<const std::uint8_t*>(request.coefficients().data()),
                       sources * targets);
  std::vector<std::size_t> used;
  for (std::size_t s = 0; s < sources; ++s) {
    bool any = false;
    for (std::size_t t = 0; t < targets; ++t) any = any || rows[t * sources + s] != 0;
    if (any) used.push_back(s);
  }
  std::vector<std::uint8_t> matrix;
  std::uint64_t length = 0;
  for (std::size_t t = 0; t < targets; ++t) {
    for (const std::size_t s : used) matrix.push_back(rows[t * sources + s]);
    length =
        std::max<std::uint64_t>(length, request.targets(static_cast<int>(t)).block().numbytes());
  }
  EBB_ASSIGN(const std::size_t slice, ChooseSlice(request, limits, used.size(), length));
  const std::size_t memory = SliceReader::MemoryBytes(used.size(), slice) + targets * slice;
  gf::LinearMap map(matrix, used.size(), targets, limits.backend);
  return CheckedCombine{std::move(used), std::move(map), length, slice, memory};
}

}  // namespace ebb
