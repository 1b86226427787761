package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.ServerDrains;
import io.ebbfs.namenode.replicas.DrainProgress;
import io.ebbfs.namenode.replicas.ServerContents;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.protocol.proto.CodingProtos.DrainRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainStatusProto;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Begins and ends drains of servers by order of an operator, and tells how far they are. A drain is
 * refused if the other servers cannot take the blocks, as far as that is seen from the codes, the
 * replication and the space; what cannot leave later, the progress names. Thread-safe.
 */
final class DrainService {
  /** A larger server is estimated from so many of its blocks. */
  private static final int MOST_ROWS = 20_000;

  private final MetadataStore store;
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final ServerDrains drains;
  private final BlockCounts counts;

  DrainService(
      MetadataStore store,
      CodeRegistry codes,
      ClusterView cluster,
      ServerDrains drains,
      BlockCounts counts) {
    this.store = store;
    this.codes = codes;
    this.cluster = cluster;
    this.drains = drains;
    this.counts = counts;
  }

  DrainResponseProto drain(DrainRequestProto request) throws IOException {
    String uuid = request.getServerUuid();
    Server server =
        cluster
            .server(uuid)
            .orElseThrow(
                () ->
                    new IOException(
                        "no chunk server has the uuid '%s': the dashboard and /api/v1/cluster list the servers"
                            .formatted(uuid)));
    ServerContents contents = ServerContents.read(store, server, MOST_ROWS);
    List<Server> staying =
        cluster.serversForBlocks().stream().filter(other -> !other.uuid().equals(uuid)).toList();
    DrainResponseProto.Builder response =
        DrainResponseProto.newBuilder()
            .setBlocks(contents.isComplete() ? contents.blocks() : blocksOn(server))
            .setBytes(contents.isComplete() ? contents.lengthBytes() : usedBytes(server))
            .setEstimated(!contents.isComplete())
            .setServersThatStay(staying.size())
            .setFreeBytesThatStay(freeBytes(staying));
    Optional<String> refusal =
        request.getEnd() ? refusalToEnd(server) : refusal(server, contents, staying, response);
    refusal.ifPresent(response::setRefusal);
    if (refusal.isEmpty() && !request.getDryRun()) {
      if (request.getEnd()) {
        drains.endDrain(uuid);
      } else {
        drains.startDrain(uuid);
      }
    }
    return response.build();
  }

  private Optional<String> refusalToEnd(Server server) {
    return server.isLeaving()
        ? drains.whyNotEnded(server.uuid())
        : Optional.of("server %s is not drained".formatted(name(server)));
  }

  private Optional<String> refusal(
      Server server,
      ServerContents contents,
      List<Server> staying,
      DrainResponseProto.Builder numbers) {
    if (server.isLeaving()) {
      return Optional.of(
          "server %s is %s already"
              .formatted(
                  name(server),
                  server.drain() == DrainState.DRAINED ? "drained" : "being drained"));
    }
    int replicas = Math.min(contents.mostReplicas(), drains.enoughReplicas());
    if (replicas > staying.size()) {
      return Optional.of(
          "blocks of server %s want %d replicas, and %d live servers stay: add servers, or take servers back"
              .formatted(name(server), replicas, staying.size()));
    }
    for (String code : contents.codes()) {
      Optional<ErasureCode> known = codes.find(code);
      if (known.isPresent() && MinimumServers.of(known.get()) > staying.size()) {
        return Optional.of(
            "stripes in %s survive the loss of any server on %d servers or more, and %d live servers stay: add servers, or convert the stripes to another code"
                .formatted(code, MinimumServers.of(known.get()), staying.size()));
      }
    }
    return numbers.getBytes() > numbers.getFreeBytesThatStay()
        ? Optional.of(
            "server %s holds %d bytes, and the live servers that stay have %d free: add servers or disks, or delete data"
                .formatted(name(server), numbers.getBytes(), numbers.getFreeBytesThatStay()))
        : Optional.empty();
  }

  private static String name(Server server) {
    return server.hostName() + ":" + server.transferPort();
  }

  private long blocksOn(Server server) {
    return server.disks().stream()
        .mapToLong(disk -> counts.blocksOn().applyAsLong(disk.storageUuid()))
        .sum();
  }

  private long usedBytes(Server server) {
    return server.disks().stream().mapToLong(Disk::usedBytes).sum();
  }

  private static long freeBytes(List<Server> servers) {
    return servers.stream()
        .flatMap(server -> server.disks().stream())
        .filter(disk -> !disk.failed())
        .mapToLong(Disk::remainingBytes)
        .sum();
  }

  /** How far the drain of a server is; empty if it stays. */
  Optional<DrainStatusProto> status(Server server) {
    if (!server.isLeaving()) {
      return Optional.empty();
    }
    DrainStatusProto.Builder status =
        DrainStatusProto.newBuilder().setDrained(server.drain() == DrainState.DRAINED);
    counts
        .drain()
        .apply(server.uuid())
        .filter(DrainProgress::isCounted)
        .ifPresent(progress -> add(status, progress));
    return Optional.of(status.build());
  }

  private static void add(DrainStatusProto.Builder status, DrainProgress progress) {
    status
        .setBlocks(progress.blocks())
        .setBlocksLeft(progress.blocksLeft())
        .setBytesLeft(progress.bytesLeft())
        .setOnlyHere(progress.onlyHere())
        .setOpenLeft(progress.openLeft())
        .setBytesPerSecond(progress.bytesPerSecond());
    progress.secondsLeft().ifPresent(status::setSecondsLeft);
    progress.stuck().ifPresent(status::setStuck);
  }
}
