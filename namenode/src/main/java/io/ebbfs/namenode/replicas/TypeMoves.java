package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import java.io.IOException;
import java.util.ArrayList;
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
 * block never has fewer replicas than before, and it stays in two racks if it is in two: a replica
 * stays on a wrong type if all disks of the right one are in the rack of the others. Members of
 * stripes stay where they are. One thread calls it.
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
   * @param moves how many moves were ordered
   * @param isLater whether the replicas of the block change just now: it is worth another look
   * @param isBusy whether other transfers have to end first
   */
  public record Ordered(int moves, boolean isLater, boolean isBusy) {
    public static final Ordered NOTHING = of(0);
    public static final Ordered BUSY = new Ordered(0, false, true);
    public static final Ordered LATER = new Ordered(0, true, false);

    public static Ordered of(int moves) {
      return new Ordered(moves, false, false);
    }
  }

  /** Orders the moves of a block, as far as there are disks of the right types. */
  Ordered order(BlockAssessment block, BlockStoragePolicy policy) throws IOException {
    if (!block.settled() || block.striped()) {
      return Ordered.NOTHING;
    }
    // A block that lacks replicas may lack them for ever; the others move all the same.
    boolean changes =
        block.pinned()
            || !block.excess().isEmpty()
            || block.counted().size() > block.wanted()
            || replications.isUnderWay(block.block().getBlockId());
    return changes ? Ordered.LATER : orderMoves(block, policy);
  }

  private Ordered orderMoves(BlockAssessment block, BlockStoragePolicy policy) {
    List<StorageType> missing = new ArrayList<>(policy.chooseStorageTypes((short) block.wanted()));
    List<Replica> wrong =
        block.counted().stream()
            .filter(replica -> !missing.remove(cluster.typeOf(replica.storageUuid())))
            .toList();
    missing.remove(StorageType.RAM_DISK);
    Set<String> occupied = occupied(block);
    List<Server> holders = servers(block.counted());
    int moves = 0;
    for (Replica replica : wrong) {
      Optional<Target> target = target(block, replica, missing, occupied);
      Optional<Server> source = servers(List.of(replica)).stream().findFirst();
      if (target.isEmpty() || source.isEmpty()) {
        continue;
      }
      List<Server> after = moved(holders, source.get(), target.get().server());
      if (racks(after) < Math.min(2, racks(holders))) {
        chooser.giveBack(List.of(target.get()));
        continue;
      }
      if (!replications.move(block, source.get(), target.get())) {
        chooser.giveBack(List.of(target.get()));
        return moves > 0 ? Ordered.of(moves) : Ordered.BUSY;
      }
      if (!source.get().uuid().equals(target.get().server().uuid())) {
        replaced.note(block.block().getBlockId(), source.get().uuid());
      }
      holders = after;
      missing.remove(target.get().disk().type());
      occupied.add(target.get().server().uuid());
      moves++;
    }
    return Ordered.of(moves);
  }

  private List<Server> servers(List<Replica> replicas) {
    return replicas.stream()
        .flatMap(replica -> cluster.disk(replica.storageUuid()).stream())
        .flatMap(disk -> cluster.server(disk.serverUuid()).stream())
        .toList();
  }

  /** The holders of a block after a replica has moved. */
  private static List<Server> moved(List<Server> holders, Server from, Server to) {
    return holders.stream().map(holder -> holder.uuid().equals(from.uuid()) ? to : holder).toList();
  }

  private static long racks(List<Server> servers) {
    return servers.stream().map(Server::rack).distinct().count();
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
    return servers(List.of(replica)).stream()
        .filter(server -> !server.isLeaving())
        .findFirst()
        .flatMap(server -> chooser.on(server, request(block, types, occupied, Set.of())))
        .or(() -> elsewhere(block, replica, types, occupied));
  }

  private static WriteRequest request(
      BlockAssessment block, List<StorageType> types, Set<String> occupied, Set<String> staying) {
    return new WriteRequest(
            "block " + block.block().getBlockId(),
            1,
            block.block().getLengthBytes(),
            null,
            occupied,
            staying)
        .on(TypeWish.exactly(types));
  }

  private Optional<Target> elsewhere(
      BlockAssessment block, Replica replica, List<StorageType> types, Set<String> occupied) {
    Set<String> staying = new HashSet<>();
    block.counted().stream()
        .filter(other -> !other.equals(replica))
        .forEach(other -> staying.add(other.storageUuid()));
    try {
      return chooser.choose(request(block, types, occupied, staying)).stream().findFirst();
    } catch (IOException e) {
      return Optional.empty(); // no disk of these types has room
    }
  }
}
