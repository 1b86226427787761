package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.protocol.proto.CodingProtos.HibernateRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import java.io.IOException;

/** Orders of an operator, for the tests of other packages. */
public final class HibernateServiceAccess {
  private HibernateServiceAccess() {}

  public static HibernateResponseProto start(
      DatanodeRegistry cluster, BlockManager blocks, String uuid, long millis, boolean dryRun)
      throws IOException {
    return new HibernateService(cluster, blocks)
        .hibernate(
            HibernateRequestProto.newBuilder()
                .setServerUuid(uuid)
                .setEnd(false)
                .setDryRun(dryRun)
                .setForMillis(millis)
                .build());
  }

  public static HibernateResponseProto wake(
      DatanodeRegistry cluster, BlockManager blocks, String uuid) throws IOException {
    return new HibernateService(cluster, blocks)
        .hibernate(
            HibernateRequestProto.newBuilder()
                .setServerUuid(uuid)
                .setEnd(true)
                .setDryRun(false)
                .build());
  }
}
