package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.HibernationProgress;
import io.ebbfs.namenode.replicas.RedundancyMonitor.Absence;
import io.ebbfs.protocol.proto.CodingProtos.HibernateRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernationStatusProto;
import java.io.IOException;
import java.util.Optional;

/**
 * Lets servers hibernate and wakes them by order of an operator. One failure group hibernates at a
 * time: a rack, or a server if all servers are in one rack. A hibernation is refused if a block is
 * known that would not survive another loss meanwhile. Thread-safe.
 */
public final class HibernateService {
  /** So many blocks are looked at before the answer; a walk looks at the rest afterwards. */
  private static final int BLOCKS_BEFORE_ANSWER = 4_000;

  private static final long LONGEST_MILLIS = 30L * 24 * 3_600_000;

  private final DatanodeRegistry cluster;
  private final BlockManager blocks;

  public HibernateService(DatanodeRegistry cluster, BlockManager blocks) {
    this.cluster = cluster;
    this.blocks = blocks;
  }

  HibernateResponseProto hibernate(HibernateRequestProto request) throws IOException {
    Server server =
        cluster
            .server(request.getServerUuid())
            .orElseThrow(
                () ->
                    new IOException(
                        "no chunk server has the uuid '%s': 'ebb admin status' and the dashboard list the servers"
                            .formatted(request.getServerUuid())));
    HibernateResponseProto.Builder response =
        HibernateResponseProto.newBuilder().setBlocks(blocksOn(server)).setBlocksChecked(0);
    return request.getEnd()
        ? wake(server, request.getDryRun(), response)
        : start(server, request, response);
  }

  private long blocksOn(Server server) {
    return server.disks().stream().mapToLong(disk -> blocks.blocksOn(disk.storageUuid())).sum();
  }

  private HibernateResponseProto wake(
      Server server, boolean dryRun, HibernateResponseProto.Builder response) throws IOException {
    if (!server.isHibernating()) {
      return response.setRefusal("server %s does not hibernate".formatted(server.name())).build();
    }
    if (server.hibernation().orElseThrow().byFile()) {
      return response
          .setRefusal(
              "the file of hosts lets server %s hibernate: change the file, then run 'hdfs dfsadmin -refreshNodes'"
                  .formatted(server.name()))
          .build();
    }
    if (!dryRun) {
      cluster.hibernations().end(server.uuid());
    }
    return response.build();
  }

  private HibernateResponseProto start(
      Server server, HibernateRequestProto request, HibernateResponseProto.Builder response)
      throws IOException {
    long forMillis = request.getForMillis();
    Optional<String> refusal = refusal(server, forMillis);
    if (refusal.isEmpty()) {
      Absence absence = blocks.whyNotAway(server, BLOCKS_BEFORE_ANSWER);
      response
          .setBlocksChecked(absence.blocks())
          .setBlocks(Math.max(absence.blocks(), response.getBlocks()));
      refusal =
          absence.why().map(why -> "server %s cannot hibernate: %s".formatted(server.name(), why));
    }
    if (refusal.isPresent()) {
      return response.setRefusal(refusal.get()).build();
    }
    long until = cluster.hibernations().endOf(forMillis);
    if (!request.getDryRun()) {
      cluster.hibernations().start(server.uuid(), until);
    }
    return response.setUntilMillis(until).build();
  }

  private Optional<String> refusal(Server server, long forMillis) {
    if (forMillis <= 0 || forMillis > LONGEST_MILLIS) {
      return Optional.of(
          "a hibernation of %d ms is not possible: choose a time of up to 30 days, or evict the server"
              .formatted(forMillis));
    }
    if (cluster.inSafeMode()) {
      return Optional.of(
          "the namenode is in safe mode, so it does not know yet which replicas are there: try"
              + " again after it");
    }
    if (server.isLeaving()) {
      return Optional.of(
          "server %s is drained, or being drained, so nothing is repaired for it anyway: take it back first"
              .formatted(server.name()));
    }
    return cluster.allServers().stream()
        .filter(other -> other.isHibernating() && !isOneGroup(server, other))
        .findFirst()
        .map(
            other ->
                "server %s of rack %s hibernates already, and one %s hibernates at a time: wake it first, or wait"
                    .formatted(other.name(), other.rack(), hasRacks() ? "rack" : "server"));
  }

  private boolean isOneGroup(Server one, Server other) {
    return one.uuid().equals(other.uuid()) || hasRacks() && one.rack().equals(other.rack());
  }

  private boolean hasRacks() {
    return cluster.allServers().stream().map(Server::rack).distinct().count() > 1;
  }

  /** How a server hibernates; empty if it does not. */
  Optional<HibernationStatusProto> status(Server server) {
    return server
        .hibernation()
        .map(
            hibernation -> {
              HibernationStatusProto.Builder status =
                  HibernationStatusProto.newBuilder()
                      .setUntilMillis(hibernation.untilMillis())
                      .setReady(hibernation.ready());
              blocks.hibernation(server.uuid()).ifPresent(progress -> add(status, progress));
              return status.build();
            });
  }

  private static void add(HibernationStatusProto.Builder status, HibernationProgress progress) {
    status.setBlocks(progress.blocks()).setBlocksLeft(progress.blocksLeft());
    progress.stuck().ifPresent(status::setStuck);
  }
}
