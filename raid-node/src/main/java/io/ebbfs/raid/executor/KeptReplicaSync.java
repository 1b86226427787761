package io.ebbfs.raid.executor;

import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Makes the replicas that an encoding keeps safe before its commit, which deletes all others: each
 * holder syncs its replica to the disk, reads it as a whole and compares it with its checksums. A
 * pipeline of writers does not sync, and a combine may have read another replica. Stateless.
 */
final class KeptReplicaSync {
  /**
   * What the holders said.
   *
   * @param failure why a replica is not safe; null if all are
   * @param bad replicas that their own servers found missing or corrupt
   */
  record Result(String failure, List<BadBlockProto> bad) {}

  /** A replica that stays, and what its server said of it. */
  private record Answer(Kept kept, Optional<VerifiedBlockProto> found, String trouble) {
    /** Why the replica is not safe; empty if it is. */
    Optional<String> failure() {
      if (found.isEmpty()) {
        return Optional.of(kept + ": " + trouble);
      }
      if (found.get().getHealth() != BlockHealthProto.BLOCK_OK) {
        return Optional.of(
            "%s: %s %s".formatted(kept, found.get().getHealth(), found.get().getMessage()));
      }
      return found.get().getSynced()
          ? Optional.empty()
          : Optional.of(kept + ": the server did not sync it: give it the namenode's version");
    }

    Optional<BadBlockProto> bad() {
      return found
          .filter(
              f ->
                  f.getHealth() == BlockHealthProto.BLOCK_CORRUPT
                      || f.getHealth() == BlockHealthProto.BLOCK_MISSING)
          .map(
              f ->
                  BadBlockProto.newBuilder()
                      .setBlock(kept.source.getBlock())
                      .setLocation(kept.at)
                      .setReason(f.getHealth() + ": " + f.getMessage())
                      .setHealth(f.getHealth())
                      .build());
    }
  }

  private record Kept(SourceProto source, BlockLocationProto at) {
    @Override
    public String toString() {
      return "replica of block %d that stays on disk %s"
          .formatted(source.getBlock().getBlockId(), at.getStorageUuid());
    }
  }

  private final ChunkChannel chunks;
  private final ParallelCalls threads;

  KeptReplicaSync(ChunkChannel chunks, ParallelCalls threads) {
    this.chunks = chunks;
    this.threads = threads;
  }

  /** Asks the holders, several in parallel. A transition that keeps no replica passes. */
  Result run(ClaimedTransitionProto claimed) throws InterruptedException {
    List<Callable<Answer>> questions = new ArrayList<>();
    for (TransitionBlockProto block : keptBlocks(claimed.getTransition())) {
      Optional<Kept> kept = find(claimed, block);
      if (kept.isEmpty()) {
        return new Result(
            "no step names disk %s, on which the replica of block %d stays"
                .formatted(block.getKeepStorageUuid(), block.getBlockId()),
            List.of());
      }
      questions.add(() -> ask(kept.get()));
    }
    List<Answer> answers = threads.all(questions);
    return new Result(
        answers.stream().map(Answer::failure).flatMap(Optional::stream).findFirst().orElse(null),
        answers.stream().map(Answer::bad).flatMap(Optional::stream).toList());
  }

  /** The blocks of which one replica stays. A combine has written and synced the copied ones. */
  private static List<TransitionBlockProto> keptBlocks(TransitionRow row) {
    if (row.getKind() != TransitionKindProto.ENCODE) {
      return List.of();
    }
    Set<Long> written = new HashSet<>();
    row.getOutputsList().stream().map(TransitionOutputProto::getBlockId).forEach(written::add);
    return row.getBlocksList().stream().filter(b -> !written.contains(b.getBlockId())).toList();
  }

  private static Optional<Kept> find(ClaimedTransitionProto claimed, TransitionBlockProto block) {
    for (StepProto step : claimed.getStepsList()) {
      for (SourceProto source : step.getCombine().getSourcesList()) {
        if (source.getBlock().getBlockId() == block.getBlockId()) {
          for (BlockLocationProto at : source.getLocationsList()) {
            if (at.getStorageUuid().equals(block.getKeepStorageUuid())) {
              return Optional.of(new Kept(source, at));
            }
          }
        }
      }
    }
    return Optional.empty();
  }

  private Answer ask(Kept kept) {
    VerifyRequestProto request =
        VerifyRequestProto.newBuilder().addBlocks(kept.source().getBlock()).setSync(true).build();
    try {
      VerifyResponseProto response = chunks.verify(kept.at().getServer(), request);
      return response.getBlocksCount() == 1
          ? new Answer(kept, Optional.of(response.getBlocks(0)), "")
          : new Answer(
              kept, Optional.empty(), response.getBlocksCount() + " answers for one block");
    } catch (IOException e) {
      return new Answer(kept, Optional.empty(), e.toString());
    }
  }
}
