#include "transfer/cluster_block_io.h"

#include <algorithm>
#include <utility>

#include "disk/checksumming_writer.h"
#include "disk/verified_reader.h"
#include "transfer/failover_source.h"
#include "transfer/remote_sink.h"
#include "transfer/remote_source.h"

namespace ebb::transfer {

namespace {

Result<std::unique_ptr<BlockSource>> OpenAt(BlockStore& store,
                                            const hadoop::hdfs::ExtendedBlockProto& block,
                                            const ebbfs::BlockLocationProto& location,
                                            std::uint64_t offset, std::uint64_t end) {
  if (location.server().datanodeuuid() == store.server_uuid()) {
    return OpenVerifiedReader(store, block.blockid(), block.generationstamp(), block.numbytes(),
                              offset);
  }
  return OpenRemoteSource(location.server(), block, offset, end);
}

// Moves the location on this server to the front: reading it costs no network.
ebbfs::SourceProto LocalFirst(ebbfs::SourceProto source, const BlockStore& store) {
  auto& locations = *source.mutable_locations();
  std::stable_partition(locations.begin(), locations.end(), [&](const auto& location) {
    return location.server().datanodeuuid() == store.server_uuid();
  });
  return source;
}

}  // namespace

Result<std::unique_ptr<BlockSource>> ClusterBlockIo::OpenSource(const ebbfs::SourceProto& source,
                                                                std::uint64_t offset,
                                                                std::uint64_t end) {
  auto open = [&store = store_, block = source.block()](const auto& location, std::uint64_t from,
                                                        std::uint64_t to) {
    return OpenAt(store, block, location, from, to);
  };
  return OpenFailoverSource(LocalFirst(source, store_), offset, end, std::move(open), listener_);
}

Result<std::unique_ptr<BlockSink>> ClusterBlockIo::OpenSink(const ebbfs::TargetProto& target) {
  const auto& block = target.block();
  if (target.location().server().datanodeuuid() != store_.server_uuid()) {
    return OpenRemoteSink(target.location().server(), block, target.location().storageuuid());
  }
  EBB_ASSIGN(auto writer, store_.Create({.block_id = block.blockid(),
                                         .generation_stamp = block.generationstamp(),
                                         .checksum = {},
                                         .state = ReplicaState::kTemporary,
                                         .storage_uuid = target.location().storageuuid(),
                                         .exact_storage = true,
                                         .expected_bytes = block.numbytes()}));
  return MakeChecksummingWriter(std::move(writer));
}

}  // namespace ebb::transfer
