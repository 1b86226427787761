package io.ebbfs.verify.cluster;

import io.ebbfs.fault.FaultInjector;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/** Deletes the files of some stripe members, and later makes their servers notice the loss. */
public final class BlockLossInjector {
  private final VerifyCluster cluster;
  private final Map<Integer, VerifyRequestProto.Builder> requestByServer = new LinkedHashMap<>();

  /** Deletes the files. No server knows of the loss yet. */
  public BlockLossInjector(
      VerifyCluster cluster, String pool, Collection<StripeMemberProto> members)
      throws IOException, ClusterException, InterruptedException {
    this.cluster = cluster;
    // While a block still has an excess replica, the loss of its other replica need not show.
    VerifyCluster.await("the removal of excess replicas", 30_000, () -> excessReplica(members));
    DiskInventory disks = DiskInventory.read(cluster.local());
    FaultInjector injector = new FaultInjector(cluster.local(), new Random(0));
    for (StripeMemberProto member : members) {
      requestByServer
          .computeIfAbsent(
              disks.serversOf(member.getBlockId()).get(0), s -> VerifyRequestProto.newBuilder())
          .addBlocks(
              ExtendedBlockProto.newBuilder()
                  .setPoolId(pool)
                  .setBlockId(member.getBlockId())
                  .setGenerationStamp(member.getGenerationStamp())
                  .setNumBytes(member.getLengthBytes()));
      injector.deleteBlock(member.getBlockId());
    }
  }

  private String excessReplica(Collection<StripeMemberProto> members) throws IOException {
    try {
      DiskInventory disks = DiskInventory.read(cluster.local());
      return members.stream()
          .filter(member -> disks.serversOf(member.getBlockId()).size() != 1)
          .findFirst()
          .map(
              member ->
                  "block %d is on servers %s"
                      .formatted(member.getBlockId(), disks.serversOf(member.getBlockId())))
          .orElse(null);
    } catch (ClusterException e) {
      throw new IOException(e);
    }
  }

  /** Makes the servers look at the blocks, so that they report the loss. May be repeated. */
  public void makeServersNotice() throws IOException {
    for (Map.Entry<Integer, VerifyRequestProto.Builder> request : requestByServer.entrySet()) {
      cluster.verify(request.getKey(), request.getValue().build());
    }
  }
}
