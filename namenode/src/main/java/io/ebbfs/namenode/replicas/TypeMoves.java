package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/**
 * Moves replicas to disks of the types that a storage policy wants. A server that has such a disk
 * moves its own replica to it. Else another server gets a copy; once the copy has arrived, the
 * block has one replica too many, and {@link ExcessReplicaMarker} takes one of a wrong type. So a
 * block never has fewer replicas than before. Members of stripes stay where they are. One thread
 * calls it.
 */
public final class TypeMoves {
  private final DatanodeRegistry cluster;
  private final ReplicaTargetChooser chooser;
  private final ReplicationScheduler replications;
  private final ReplacedReplicas replaced;

  TypeMoves(
      DatanodeRegistry cluster,
      ReplicaTargetChooser chooser,
      ReplicationScheduler replications,
      ReplacedReplicas replaced) {
    this.cluster = cluster;
    this.chooser = chooser;
    this.replications = replications;
    this.replaced = replaced;
  }

  /**
   * What was ordered for a block.
   *
   * @param moves how many moves were ordered, or have to be looked at again
   * @param isBusy whether other transfers have to end first
   */
  public record Ordered(int moves, boolean isBusy) {
    static final Ordered NOTHING = new Ordered(0, false);
    static final Ordered BUSY = new Ordered(0, true);

    /** The replicas of the block change just now. */
    static final Ordered LATER = new Ordered(1, false);
  }

  /** Orders the moves of a block, as far as there are disks of the right types. */
  Ordered order(BlockAssessment block, BlockStoragePolicy policy) throws IOException {
    if (!block.settled() || block.striped()) {
      return Ordered.NOTHING;
    }
    boolean isStill =
        !block.pinned()
            && block.excess().isEmpty()
            && block.counted().size() == block.wanted()
            && !replications.isUnderWay(block.block().getBlockId());
    return isStill ? orderMoves(block, policy) : Ordered.LATER;
  }

  private Ordered orderMoves(BlockAssessment block, BlockStoragePolicy policy) {
    List<StorageType> missing = new ArrayList<>(policy.chooseStorageTypes((short) block.wanted()));
    List<Replica> wrong = new ArrayList<>();
    for (Replica replica : block.counted()) {
      if (!missing.remove(cluster.typeOf(replica.storageUuid()))) {
        wrong.add(replica);
      }
    }
    missing.remove(StorageType.RAM_DISK);
    Set<String> occupied = occupied(block);
    int moves = 0;
    for (Replica replica : wrong) {
      Optional<Target> target = target(block, replica, missing, occupied);
      Optional<Server> source =
          cluster.disk(replica.storageUuid()).flatMap(disk -> cluster.server(disk.serverUuid()));
      if (target.isEmpty() || source.isEmpty()) {
        continue;
      }
      if (!replications.move(block, source.get(), target.get())) {
        chooser.giveBack(List.of(target.get()));
        return moves > 0 ? new Ordered(moves, false) : Ordered.BUSY;
      }
      if (!source.get().uuid().equals(target.get().server().uuid())) {
        replaced.note(block.block().getBlockId(), source.get().uuid());
      }
      missing.remove(target.get().disk().type());
      occupied.add(target.get().server().uuid());
      moves++;
    }
    return new Ordered(moves, false);
  }

  private Set<String> occupied(BlockAssessment block) {
    return new HashSet<>(
        cluster.serversOf(block.all().stream().map(Replica::storageUuid).toList()));
  }

  /** A disk of one of the types: on the replica's own server, or else on a server without one. */
  private Optional<Target> target(
      BlockAssessment block, Replica replica, List<StorageType> types, Set<String> occupied) {
    if (types.isEmpty()) {
      return Optional.empty();
    }
    long length = block.block().getLengthBytes();
    Optional<Server> own =
        cluster
            .disk(replica.storageUuid())
            .flatMap(disk -> cluster.server(disk.serverUuid()))
            .filter(server -> !server.isLeaving());
    Optional<Disk> here =
        own.stream()
            .flatMap(server -> server.disks().stream())
            .filter(disk -> EnumSet.copyOf(types).contains(disk.type()))
            .filter(disk -> cluster.isLive(disk.storageUuid()) && disk.remainingBytes() >= length)
            .findFirst();
    return here.map(disk -> new Target(own.get(), disk))
        .or(() -> elsewhere(block, replica, types, occupied));
  }

  private Optional<Target> elsewhere(
      BlockAssessment block, Replica replica, List<StorageType> types, Set<String> occupied) {
    Set<String> staying = new HashSet<>();
    block.counted().stream()
        .filter(other -> !other.equals(replica))
        .forEach(other -> staying.add(other.storageUuid()));
    try {
      return chooser
          .choose(
              new WriteRequest(
                      "block " + block.block().getBlockId(),
                      1,
                      block.block().getLengthBytes(),
                      null,
                      occupied,
                      staying)
                  .on(TypeWish.exactly(types)))
          .stream()
          .findFirst();
    } catch (IOException e) {
      return Optional.empty(); // no disk of these types has room
    }
  }
}
