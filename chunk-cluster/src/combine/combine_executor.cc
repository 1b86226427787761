#include "combine/combine_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "combine/comparing_sink.h"
#include "combine/slice_reader.h"
#include "common/crc32c.h"
#include "common/fail_point.h"
#include "common/page_buffer.h"

namespace ebb {

namespace {

using ebbfs::CombineResponseProto;

std::vector<ebbfs::SourceProto> UsedSources(const ebbfs::CombineRequestProto& request,
                                            const CheckedCombine& plan) {
  std::vector<ebbfs::SourceProto> used;
  for (const std::size_t s : plan.used) used.push_back(request.sources(static_cast<int>(s)));
  return used;
}

struct Target {
  std::unique_ptr<BlockSink> sink;
  std::uint64_t length = 0;
  std::uint64_t written = 0;
  std::uint32_t crc = 0;
  // The target exists already: the output is compared with it.
  bool existing = false;
};

// The target of a check: the output is computed for its checksum only.
class DiscardingSink final : public BlockSink {
 public:
  Status Write(std::span<const std::byte>) override { return {}; }
  Status Finish() override { return {}; }
  bool local() const override { return true; }
};

// The reader holds the lease, because a stuck reader thread may outlive the run. The lease covers
// the outputs, too.
class Run {
 public:
  Run(const CombineContext& context, const ebbfs::CombineRequestProto& request,
      const CheckedCombine& plan, MemoryBudget::Lease lease)
      : context_(context),
        request_(request),
        plan_(plan),
        memory_(static_cast<std::size_t>(request.targets_size()) * plan.slice_bytes +
                (plan.check ? plan.check->ScratchBytes() : 0)),
        source_crcs_(plan.check ? plan.used.size() : 0),
        targets_(static_cast<std::size_t>(request.targets_size())),
        reader_(context.io, context.group, UsedSources(request, plan), 0, plan.length_bytes,
                {plan.slice_bytes, context.options.threads, context.options.source_timeout},
                std::move(lease)) {
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      targets_[t].length = request.targets(static_cast<int>(t)).block().numbytes();
      outputs_.push_back(memory_.data() + t * plan.slice_bytes);
    }
  }

  CombineResponseProto Execute() {
    const bool done = OpenTargets() && CombineSlices() && FinishTargets();
    if (!done) {
      for (Target& target : targets_) target.sink.reset();
      response_.set_message(Summary());
    } else {
      response_.set_status(ebbfs::COMBINE_OK);
      Report();
    }
    const ReadCounts counts = reader_.counts();
    response_.set_blocksread(counts.blocks);
    response_.set_bytesreadlocal(counts.bytes_local);
    response_.set_bytesreadremote(counts.bytes_remote);
    return std::move(response_);
  }

 private:
  // The reader opens and reads the sources at the same time.
  bool OpenTargets() {
    return ForEachTarget([&](std::size_t t) -> Status {
      Target& target = targets_[t];
      const auto& proto = request_.targets(static_cast<int>(t));
      if (request_.check()) {
        target.sink = std::make_unique<DiscardingSink>();
        return {};
      }
      EBB_TRY(fail_point::Reach(fail_point::kCombineCreate));
      auto sink = context_.io.OpenSink(proto);
      if (!sink) sink = OpenExisting(proto, target, std::move(sink).error());
      if (!sink) return std::unexpected(std::move(sink).error());
      target.sink = std::move(*sink);
      return {};
    });
  }

  // An earlier attempt may have finished the block, while its answer was lost.
  Result<std::unique_ptr<BlockSink>> OpenExisting(const ebbfs::TargetProto& proto, Target& target,
                                                  Error refusal) {
    ebbfs::SourceProto source;
    *source.mutable_block() = proto.block();
    *source.add_locations() = proto.location();
    auto block = context_.io.OpenSource(source, 0, source.block().numbytes());
    if (!block) return std::unexpected(std::move(refusal));
    target.existing = true;
    return MakeComparingSink(std::move(*block));
  }

  bool CombineSlices() {
    for (std::uint64_t at = 0; at < plan_.length_bytes; at += plan_.slice_bytes) {
      if (context_.stopping) {
        response_.set_status(ebbfs::COMBINE_BUSY);
        return false;
      }
      const auto inputs = reader_.Next();
      if (!inputs) {
        SetSourceFailures(inputs.error());
        return false;
      }
      const std::size_t length =
          std::min<std::uint64_t>(plan_.slice_bytes, plan_.length_bytes - at);
      plan_.map.Apply(*inputs, outputs_, length);
      SumOutputs(at, length);
      if (plan_.check && !CheckSlice(*inputs, at, length)) return false;
      for (std::size_t t = 0; t < targets_.size(); ++t) {
        if (!WriteSlice(t, at, length)) return false;
      }
      if (half_.ReachedBy(at + length, plan_.length_bytes)) {
        if (auto status = fail_point::Reach(fail_point::kCombineHalf); !status) {
          SetTargetFailure(0, status.error());
          return false;
        }
      }
    }
    return true;
  }

  // The bytes that `block_bytes` leave for a slice.
  static std::size_t Part(std::uint64_t block_bytes, std::uint64_t at, std::size_t length) {
    return block_bytes <= at ? 0 : std::min<std::uint64_t>(length, block_bytes - at);
  }

  // The checksums are those of the bytes that the check sees. What happens to the bytes on their
  // way to the disk shows, because the checksums of the disk then differ.
  void SumOutputs(std::uint64_t at, std::size_t length) {
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const std::size_t part = Part(targets_[t].length, at, length);
      targets_[t].crc = Crc32c(targets_[t].crc, {outputs_[t], part});
    }
  }

  // What follows the end of a short output is not written and counts as zeros.
  bool CheckSlice(std::span<const std::byte* const> inputs, std::uint64_t at, std::size_t length) {
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const std::size_t part = Part(targets_[t].length, at, length);
      std::memset(outputs_[t] + part, 0, length - part);
    }
    for (std::size_t s = 0; s < inputs.size(); ++s) {
      const auto& block = request_.sources(static_cast<int>(s)).block();
      source_crcs_[s] = Crc32c(source_crcs_[s], {inputs[s], Part(block.numbytes(), at, length)});
    }
    std::byte* const scratch = memory_.data() + targets_.size() * plan_.slice_bytes;
    const auto wrong = plan_.check->Find(inputs, outputs_, length, scratch);
    if (!wrong) return true;
    response_.set_status(ebbfs::COMBINE_OUTPUTS_WRONG);
    wrong_ = fmt::format(
        "block {}, decoded back from the outputs by {}, differs at byte {} from the block that was "
        "read; no target was written",
        request_.sources(static_cast<int>(wrong->source)).block().blockid(),
        gf::Name(plan_.check->backend()), at + wrong->offset);
    return false;
  }

  bool WriteSlice(std::size_t t, std::uint64_t at, std::size_t length) {
    Target& target = targets_[t];
    if (at >= target.length) return true;
    const std::span<const std::byte> data(outputs_[t], Part(target.length, at, length));
    if (auto status = target.sink->Write(data); !status) {
      SetTargetFailure(t, status.error());
      return false;
    }
    target.written += data.size();
    return true;
  }

  bool FinishTargets() {
    const bool all = ForEachTarget([&](std::size_t t) -> Status {
      EBB_TRY(fail_point::Reach(fail_point::kCombineFinalize));
      return targets_[t].sink->Finish();
    });
    if (all) (void)fail_point::Reach(fail_point::kCombineAnswer);
    return all;
  }

  // False, with the failures in the response, if any call of `function` fails.
  template <typename Function>
  bool ForEachTarget(Function function) {
    std::vector<Status> results(targets_.size());
    ParallelFor(targets_.size(), context_.options.threads,
                [&](std::size_t t) { results[t] = function(t); });
    bool all = true;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      if (results[t]) continue;
      SetTargetFailure(t, results[t].error());
      all = false;
    }
    return all;
  }

  void SetTargetFailure(std::size_t t, const Error& error) {
    response_.set_status(ebbfs::COMBINE_TARGET_FAILED);
    auto* failure = response_.add_failedtargets();
    failure->set_index(static_cast<std::uint32_t>(t));
    failure->set_message(DescribeFailure(error));
    if (error.code == ErrorCode::kNoSpace) failure->set_nospace(true);
  }

  void SetSourceFailures(const SourceFailures& failures) {
    response_.set_status(ebbfs::COMBINE_SOURCE_FAILED);
    for (const SourceFailure& source : failures) {
      auto* failure = response_.add_failedsources();
      failure->set_index(static_cast<std::uint32_t>(plan_.used[source.index]));
      failure->set_message(DescribeFailure(source.error));
    }
  }

  std::string Summary() const {
    if (response_.status() == ebbfs::COMBINE_BUSY) return "the chunk server is stopping";
    if (response_.status() == ebbfs::COMBINE_OUTPUTS_WRONG) return wrong_;
    std::string text;
    for (const auto& failure : response_.failedsources()) {
      const auto& block = request_.sources(static_cast<int>(failure.index())).block();
      text += fmt::format("source {} (block {}): {}; ", failure.index(), block.blockid(),
                          failure.message());
    }
    for (const auto& failure : response_.failedtargets()) {
      const auto& block = request_.targets(static_cast<int>(failure.index())).block();
      text += fmt::format("target {} (block {}): {}; ", failure.index(), block.blockid(),
                          failure.message());
    }
    return text.substr(0, text.size() - 2);  // without the last "; "
  }

  void Report() {
    std::uint64_t local = 0;
    std::uint64_t remote = 0;
    for (const Target& target : targets_) {
      auto* combined = response_.add_targets();
      combined->set_lengthbytes(target.written);
      combined->set_crc32c(target.crc);
      if (!target.existing && !request_.check())
        (target.sink->local() ? local : remote) += target.written;
    }
    for (std::size_t s = 0; s < source_crcs_.size(); ++s) {
      auto* checked = response_.add_checkedsources();
      checked->set_lengthbytes(request_.sources(static_cast<int>(s)).block().numbytes());
      checked->set_crc32c(source_crcs_[s]);
    }
    response_.set_byteswrittenlocal(local);
    response_.set_byteswrittenremote(remote);
  }

  const CombineContext& context_;
  const ebbfs::CombineRequestProto& request_;
  const CheckedCombine& plan_;
  // A slice of each output, then the scratch memory of the check.
  const PageBuffer memory_;
  std::vector<std::uint32_t> source_crcs_;
  std::vector<std::byte*> outputs_;
  std::vector<Target> targets_;
  SliceReader reader_;
  CombineResponseProto response_;
  // The difference that the check found.
  std::string wrong_;
  fail_point::Half half_;
};

std::string_view Word(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "MISSING";
    case ErrorCode::kCorrupt:
      return "CORRUPT";
    case ErrorCode::kIo:
    case ErrorCode::kCannotTell:
      return "IO";
    case ErrorCode::kTimeout:
      return "TIMEOUT";
    case ErrorCode::kBusy:
    case ErrorCode::kNotReady:
      return "BUSY";
    case ErrorCode::kNoSpace:
      return "NO_SPACE";
    case ErrorCode::kNetwork:
    case ErrorCode::kShutdown:
      return "NETWORK";
    case ErrorCode::kInvalid:
    case ErrorCode::kUnsupported:
    case ErrorCode::kRemote:
      break;
  }
  return "REFUSED";
}

}  // namespace

std::string DescribeFailure(const Error& error) {
  return fmt::format("{}: {}", Word(error.code), error.message);
}

ebbfs::CombineResponseProto ExecuteCombine(const CombineContext& context,
                                           const ebbfs::CombineRequestProto& request,
                                           const CheckedCombine& plan, MemoryBudget::Lease lease) {
  return Run(context, request, plan, std::move(lease)).Execute();
}

}  // namespace ebb
