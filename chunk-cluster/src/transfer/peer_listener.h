// Hears of peers whose replicas seem to be corrupt.
#pragma once

#include "hdfs.pb.h"

namespace ebb::transfer {

// Thread-safe.
class PeerListener {
 public:
  virtual ~PeerListener() = default;
  // The bytes of `block` that came from `peer` contradict their checksums. The replica of the peer
  // may be corrupt, or the network has damaged the bytes: only the peer can tell.
  virtual void OnCorruptAtPeer(const hadoop::hdfs::DatanodeIDProto& peer,
                               const hadoop::hdfs::ExtendedBlockProto& block) = 0;
};

}  // namespace ebb::transfer
