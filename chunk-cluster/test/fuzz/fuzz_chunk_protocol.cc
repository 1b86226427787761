// Requests of ChunkProtocol: the first byte of the input chooses the method.
#include "combine/combine_engine.h"
#include "combine/degraded_reader.h"
#include "combine/fake_block_io.h"
#include "combine/read_plan_client.h"
#include "quiet.h"
#include "rpc/server.h"
#include "server/chunk_service.h"

namespace {

using namespace ebb;

class Blocks final : public StorageInspector {
 public:
  explicit Blocks(FakeBlockIo& io) : io_(io) {}
  Status CheckReady() const override { return {}; }
  Status Sync(const hadoop::hdfs::ExtendedBlockProto&) override { return {}; }
  Result<OpenBlock> Open(const hadoop::hdfs::ExtendedBlockProto& block) override {
    ebbfs::SourceProto source;
    *source.mutable_block() = block;
    EBB_ASSIGN(auto opened, io_.OpenSource(source, 0, block.numbytes()));
    return OpenBlock{std::move(opened), io_.Get(block.blockid())->size()};
  }
  Result<ChecksumFile> ReadChecksums(const hadoop::hdfs::ExtendedBlockProto& block,
                                     std::uint64_t) override {
    const auto bytes = io_.Get(block.blockid());
    if (!bytes) return Fail(ErrorCode::kNotFound, "no such block");
    return ChecksumFile{bytes->size(), std::nullopt, {}};
  }
  std::vector<ebbfs::DiskStatusProto> Disks() override { return {}; }
  void DescribeScrub(ebbfs::ChunkStatusResponseProto&) override {}

 private:
  FakeBlockIo& io_;
};

CombineEngineOptions Small() {
  CombineEngineOptions options;
  options.limits.max_block_bytes = std::uint64_t{1} << 16;
  options.limits.max_combine_bytes = std::size_t{1} << 20;
  options.max_process_bytes = std::size_t{1} << 20;
  options.busy_timeout = std::chrono::milliseconds(0);
  return options;
}

// Answers a call as the RPC server does after it knows the method.
template <typename Request, typename Function>
void Call(std::string_view bytes, Function function) {
  Request request;
  if (!rpc_internal::ParseRequest(request, bytes)) return;
  function(request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  FakeBlockIo io;
  io.Put(1, Bytes(1000, std::byte{1}));
  io.Put(2, Bytes(700, std::byte{2}));
  CombineEngine engine(io, Small());
  ReadPlanClient plans({{"127.0.0.1", 1}}, std::chrono::milliseconds(1));
  DegradedReader reads(io, plans, {});
  Blocks blocks(io);
  ChunkService service(engine, reads, blocks);
  if (data[0] % 2 == 0) {
    Call<ebbfs::VerifyRequestProto>(bytes,
                                    [&](const auto& request) { (void)service.Verify(request); });
  } else {
    Call<ebbfs::CombineRequestProto>(bytes,
                                     [&](const auto& request) { (void)engine.Combine(request); });
  }
  if (io.unfinished() != 0) abort();
  return 0;
}
