#include "disk/replica.h"

namespace ebb {

std::string_view NameOf(ReplicaState state) {
  switch (state) {
    case ReplicaState::kFinalized:
      return "finalized";
    case ReplicaState::kBeingWritten:
      return "being written";
    case ReplicaState::kWaiting:
      return "waiting for recovery";
    case ReplicaState::kUnderRecovery:
      return "under recovery";
    case ReplicaState::kTemporary:
      return "temporary";
  }
  return "unknown";
}

}  // namespace ebb
