package io.ebbfs.verify.simulator;

import io.ebbfs.verify.simulator.SimTransfers.Candidate;
import io.ebbfs.verify.simulator.SimTransfers.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringBlock;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;

/**
 * A block recovery that a simulated server leads: brings the replicas of an open block to one
 * length. It follows the chunk server's block_recovery.cc.
 */
final class SimBlockRecovery {
  private record Holder(SimServer server, Candidate replica) {}

  private final SimCluster cluster;
  private final String leader;
  private final RecoveringBlock recovering;
  private final ExtendedBlock block;

  SimBlockRecovery(SimCluster cluster, String leader, RecoveringBlock recovering) {
    this.leader = leader;
    this.cluster = cluster;
    this.recovering = recovering;
    block = recovering.getBlock();
  }

  /** Recovers the block and tells the namenode. Without an answer the namenode orders it again. */
  void run(DatanodeProtocol namenode) throws IOException {
    List<Holder> holders = new ArrayList<>();
    boolean allSpoke = true;
    for (DatanodeInfo location : recovering.getLocations()) {
      SimServer server = cluster.server(location.getDatanodeUuid());
      if (server != null && server.deniesReplicas()) {
        continue;
      }
      if (server != null
          && server.isScanning()
          && !cluster.network().isCut(leader, server.uuid())) {
        return; // its replica may be the longest, or the only one
      }
      if (server == null || !server.answers() || cluster.network().isCut(leader, server.uuid())) {
        allSpoke = false;
        continue;
      }
      try {
        ask(server).ifPresent(holders::add);
      } catch (IllegalStateException e) {
        allSpoke = false;
      }
    }
    if (holders.isEmpty() && allSpoke) {
      commit(namenode, 0, List.of(), List.of());
      return;
    }
    if (isTruncation()) {
      holders.removeIf(holder -> holder.replica().lengthBytes() < wanted());
    }
    if (!holders.isEmpty()) {
      synchronize(namenode, holders);
    }
  }

  private Optional<Holder> ask(SimServer server) {
    return server
        .transfers()
        .startRecovery(
            block.getBlockId(), block.getGenerationStamp(), recovering.getNewGenerationStamp())
        .filter(replica -> replica.generationStamp() >= block.getGenerationStamp())
        .filter(replica -> replica.lengthBytes() > 0)
        .map(replica -> new Holder(server, replica));
  }

  /** Whether all replicas are cut to one length, because the file of the block is truncated. */
  private boolean isTruncation() {
    return recovering.getNewBlock() != null;
  }

  private long wanted() {
    return recovering.getNewBlock().getNumBytes();
  }

  private static long shortest(List<Holder> holders, Kind kind) {
    return holders.stream()
        .filter(h -> h.replica().kind() == kind)
        .mapToLong(h -> h.replica().lengthBytes())
        .min()
        .orElseThrow();
  }

  private void synchronize(DatanodeProtocol namenode, List<Holder> holders) throws IOException {
    Kind best = holders.stream().map(h -> h.replica().kind()).min(Kind::compareTo).orElseThrow();
    long length = isTruncation() ? wanted() : shortest(holders, best);
    List<DatanodeID> targets = new ArrayList<>();
    List<String> storages = new ArrayList<>();
    for (Holder holder : holders) {
      boolean takesPart =
          holder.replica().kind() == best
              || !isTruncation()
                  && best == Kind.FINALIZED
                  && holder.replica().kind() == Kind.BEING_WRITTEN
                  && holder.replica().lengthBytes() == length;
      Optional<String> storage =
          takesPart
              ? holder
                  .server()
                  .transfers()
                  .finishRecovery(block.getBlockId(), recovering.getNewGenerationStamp(), length)
              : Optional.empty();
      if (storage.isPresent()) {
        targets.add(holder.server().id());
        storages.add(storage.get());
      }
    }
    if (!targets.isEmpty()) {
      commit(namenode, length, targets, storages);
    }
  }

  private void commit(
      DatanodeProtocol namenode, long length, List<DatanodeID> targets, List<String> storages)
      throws IOException {
    namenode.commitBlockSynchronization(
        block,
        recovering.getNewGenerationStamp(),
        length,
        true,
        targets.isEmpty(),
        targets.toArray(DatanodeID[]::new),
        storages.toArray(String[]::new));
  }
}
