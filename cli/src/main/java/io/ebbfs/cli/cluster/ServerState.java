package io.ebbfs.cli.cluster;

import io.ebbfs.common.config.Units;
import io.ebbfs.protocol.proto.CodingProtos.DrainStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernationStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import java.time.Instant;

/**
 * A server as an operator sees it. Numbers that are not known are null.
 *
 * @param state LIVE, DEAD, DRAINING, DRAINED, HIBERNATING (may be stopped) or TO_HIBERNATE (may not
 *     be stopped yet)
 * @param usedShare of the capacity of the disks in service; 0 without one
 * @param blocksLeft blocks for which the server is still needed
 * @param until when the hibernation ends
 * @param stuck names a block that holds up a drain or a hibernation
 */
record ServerState(
    String name,
    String uuid,
    String rack,
    boolean live,
    String state,
    double usedShare,
    long usedBytes,
    long capacityBytes,
    long blocks,
    Long blocksLeft,
    Long bytesLeft,
    Long secondsLeft,
    String until,
    String stuck) {

  static ServerState of(ServerStatusProto server) {
    long used = 0;
    long capacity = 0;
    long blocks = 0;
    for (StorageStatusProto disk : server.getStoragesList()) {
      used += disk.getFailed() ? 0 : disk.getUsedBytes();
      capacity += disk.getFailed() ? 0 : disk.getCapacityBytes();
      blocks += disk.getBlocks();
    }
    DrainStatusProto drain = server.getDrain();
    HibernationStatusProto sleep = server.getHibernation();
    return new ServerState(
        AdminTarget.nameOf(server),
        server.getServer().getDatanodeUuid(),
        server.getRack(),
        server.getLive(),
        state(server),
        capacity == 0 ? 0 : (double) used / capacity,
        used,
        capacity,
        blocks,
        left(drain, sleep),
        drain.hasBytesLeft() ? drain.getBytesLeft() : null,
        drain.hasSecondsLeft() ? drain.getSecondsLeft() : null,
        server.hasHibernation() ? until(sleep) : null,
        stuck(drain, sleep));
  }

  private static String state(ServerStatusProto server) {
    if (server.hasDrain()) {
      return server.getDrain().getDrained() ? "DRAINED" : "DRAINING";
    }
    if (server.hasHibernation()) {
      return server.getHibernation().getReady() ? "HIBERNATING" : "TO_HIBERNATE";
    }
    return server.getLive() ? "LIVE" : "DEAD";
  }

  private static Long left(DrainStatusProto drain, HibernationStatusProto sleep) {
    if (drain.hasBlocksLeft()) {
      return drain.getBlocksLeft();
    }
    return sleep.hasBlocksLeft() ? sleep.getBlocksLeft() : null;
  }

  private static String stuck(DrainStatusProto drain, HibernationStatusProto sleep) {
    if (drain.hasStuck()) {
      return drain.getStuck();
    }
    return sleep.hasStuck() ? sleep.getStuck() : null;
  }

  private static String until(HibernationStatusProto sleep) {
    return sleep.getUntilMillis() == Long.MAX_VALUE
        ? "without end"
        : Instant.ofEpochMilli(sleep.getUntilMillis()).toString();
  }

  /** One line, and another one if something holds it up. */
  String text() {
    StringBuilder line =
        new StringBuilder(
            "%-28s %-16s %-13s %5.1f%% of %s, %,d blocks"
                .formatted(
                    name,
                    rack,
                    state + (live || state.equals("DEAD") ? "" : " (down)"),
                    usedShare * 100,
                    Units.showBytes(capacityBytes),
                    blocks));
    if (blocksLeft != null) {
      line.append(", %,d left".formatted(blocksLeft));
    }
    if (bytesLeft != null) {
      line.append(" (").append(Units.showBytes(bytesLeft)).append(")");
    }
    if (secondsLeft != null) {
      line.append(", about ").append(AdminTarget.duration(secondsLeft));
    }
    if (until != null) {
      line.append(", until ").append(until);
    }
    return stuck == null ? line.toString() : line + System.lineSeparator() + "    " + stuck;
  }
}
