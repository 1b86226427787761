#include "combine/checked_combine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "combine/slice_reader.h"
#include "transfer/group_layout.h"

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

Status CheckCells(const ebbfs::CombineRequestProto& request, const ebbfs::SourceProto& source,
                  const CombineLimits& limits) {
  const auto& cells = source.cells();
  if (request.has_outputcheck()) {
    return Refuse(fmt::format("source block {} enters by its cells, and the combine has an "
                              "outputCheck, which reads it as a whole; leave out the check",
                              source.block().blockid()));
  }
  if (cells.cellbytes() == 0 || cells.units() == 0 ||
      cells.units() > transfer::GroupLayout::kMaxUnits || cells.unit() >= cells.units()) {
    return Refuse(fmt::format("source block {} is said to be block {} of {} with cells of {} bytes; "
                              "at most {} blocks are accepted",
                              source.block().blockid(), cells.unit(), cells.units(),
                              cells.cellbytes(), transfer::GroupLayout::kMaxUnits));
  }
  if (cells.startbytes() > limits.max_block_bytes * transfer::GroupLayout::kMaxUnits) {
    return Refuse(fmt::format("the outputs are said to begin at byte {} of a block group; no group "
                              "is so long",
                              cells.startbytes()));
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
    if (source.has_cells()) EBB_TRY(CheckCells(request, source, limits));
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

Status CheckSourcesOfOutputCheck(const ebbfs::CombineRequestProto& request, std::size_t used,
                                 std::uint64_t length) {
  if (used != static_cast<std::size_t>(request.sources_size())) {
    return Refuse(fmt::format(
        "the combine has an outputCheck, and {} of its {} sources have coefficients; leave out the "
        "others",
        used, request.sources_size()));
  }
  for (const auto& source : request.sources()) {
    if (source.block().numbytes() <= length) continue;
    return Refuse(fmt::format(
        "the outputCheck reads block {} as a whole, {} bytes, and the longest target has {}; leave "
        "out the check",
        source.block().blockid(), source.block().numbytes(), length));
  }
  return {};
}

Status CheckRowsOfOutputCheck(const ebbfs::OutputCheckProto& check,
                              std::span<const std::uint8_t> rows, std::size_t sources) {
  const auto targets = static_cast<std::size_t>(check.targets_size());
  for (std::size_t r = 0; r * (targets + sources) < rows.size(); ++r) {
    const auto row = rows.subspan(r * (targets + sources), targets + sources);
    const std::uint32_t decoded = check.decodedsources(static_cast<int>(r));
    if (decoded >= sources) {
      return Refuse(fmt::format("the outputCheck decodes source {}; the combine has {} sources",
                                decoded, sources));
    }
    if (row[targets + decoded] != 0) {
      return Refuse(fmt::format(
          "row {} of the outputCheck computes source {} from this source; set its coefficient to 0",
          r, decoded));
    }
    if (std::ranges::all_of(row.first(targets), [](std::uint8_t c) { return c == 0; })) {
      return Refuse(fmt::format("row {} of the outputCheck reads no output; leave it out", r));
    }
  }
  return {};
}

Result<OutputCheck> MakeOutputCheck(const ebbfs::CombineRequestProto& request,
                                    const CombineLimits& limits, std::size_t used,
                                    std::uint64_t length) {
  EBB_TRY(CheckSourcesOfOutputCheck(request, used, length));
  const auto& check = request.outputcheck();
  const auto decoded = static_cast<std::size_t>(check.decodedsources_size());
  const auto width = static_cast<std::size_t>(check.targets_size()) + used;
  if (decoded == 0 || decoded > limits.max_targets) {
    return Refuse(fmt::format("the outputCheck decodes {} sources; from 1 to {} are accepted",
                              decoded, limits.max_targets));
  }
  if (check.coefficients().size() != decoded * width) {
    return Refuse(fmt::format("{} coefficients for {} rows of the outputCheck; send {}",
                              check.coefficients().size(), decoded, decoded * width));
  }
  for (const std::uint32_t target : check.targets()) {
    if (target < static_cast<std::size_t>(request.targets_size())) continue;
    return Refuse(fmt::format("the outputCheck names target {}; the combine has {} targets", target,
                              request.targets_size()));
  }
  const std::span rows(reinterpret_cast<const std::uint8_t*>(check.coefficients().data()),
                       decoded * width);
  EBB_TRY(CheckRowsOfOutputCheck(check, rows, used));
  return OutputCheck({check.decodedsources().begin(), check.decodedsources().end()},
                     {check.targets().begin(), check.targets().end()}, used, rows, limits.backend);
}

// The longest slice, up to the requested length, whose buffers fit into the memory beside the
// scratch memory of the outputCheck.
Result<std::size_t> ChooseSlice(const ebbfs::CombineRequestProto& request,
                                const CombineLimits& limits, std::size_t sources,
                                std::uint64_t length, std::size_t scratch) {
  const auto targets = static_cast<std::size_t>(request.targets_size());
  std::size_t slice = request.has_slicebytes() ? request.slicebytes() : limits.default_slice_bytes;
  const std::uint64_t whole = std::max<std::uint64_t>(1, length);
  slice = std::min<std::uint64_t>(slice, (whole + kPageBytes - 1) / kPageBytes * kPageBytes);
  const std::size_t buffers =
      limits.max_combine_bytes - std::min(scratch, limits.max_combine_bytes);
  slice = std::min(slice, buffers / (SliceReader::kDepth * sources + targets));
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
  std::optional<OutputCheck> check;
  if (request.has_outputcheck()) {
    EBB_ASSIGN(check, MakeOutputCheck(request, limits, used.size(), length));
  }
  const std::size_t scratch = check ? check->ScratchBytes() : 0;
  EBB_ASSIGN(const std::size_t slice, ChooseSlice(request, limits, used.size(), length, scratch));
  const std::size_t memory =
      SliceReader::MemoryBytes(used.size(), slice) + targets * slice + scratch;
  gf::LinearMap map(matrix, used.size(), targets, limits.backend);
  return CheckedCombine{std::move(used), std::move(map), std::move(check), length, slice, memory};
}

}  // namespace ebb
