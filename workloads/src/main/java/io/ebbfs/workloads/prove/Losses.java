package io.ebbfs.workloads.prove;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/** Members of stripes whose files are deleted behind their servers' backs. */
final class Losses {
  private final ProvingCluster cluster;
  private final Map<Integer, VerifyRequestProto.Builder> lookThere = new LinkedHashMap<>();

  /** Deletes the files; no server knows of it yet. */
  Losses(ProvingCluster cluster, String pool, Collection<StripeMemberProto> members)
      throws IOException, ClusterException, InterruptedException {
    this.cluster = cluster;
    // While a second replica waits to be removed, the loss of the other one need not show.
    ProvingCluster.await("the end of all surplus", 30_000, cluster::imbalance);
    Disks disks = Disks.read(cluster.local());
    FaultInjector injector = new FaultInjector(cluster.local(), new Random(0));
    for (StripeMemberProto member : members) {
      lookThere
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

  /** Has the servers look at the blocks, so that they report them. Harmless if done again. */
  void notice() throws IOException {
    for (Map.Entry<Integer, VerifyRequestProto.Builder> look : lookThere.entrySet()) {
      cluster.verify(look.getKey(), look.getValue().build());
    }
  }
}
