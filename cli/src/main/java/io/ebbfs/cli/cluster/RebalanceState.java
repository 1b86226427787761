package io.ebbfs.cli.cluster;

import io.ebbfs.common.config.Units;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceOrderProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceResponseProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import java.io.IOException;
import java.util.List;

/**
 * How far the rebalance is, or what it would do.
 *
 * @param refusal why the order was not carried out; null if it was
 * @param disks those that are too full or too empty, the fullest first
 * @param secondsLeft at the allowed speed; null if nothing is to be moved
 * @param stuck what cannot be moved now; null if nothing is known
 */
record RebalanceState(
    String refusal,
    boolean running,
    double threshold,
    long bytesPerSecond,
    double meanShare,
    List<DiskFlow> disks,
    long bytesToMove,
    Long secondsLeft,
    long movedBlocks,
    long movedBytes,
    int underWay,
    String stuck) {

  /** Bytes that leave a disk (negative), or come to it. */
  record DiskFlow(String server, String disk, double usedShare, long bytes) {}

  /**
   * Gives an order, or asks.
   *
   * @param threshold null for the one in force
   * @param bytesPerSecond null for the one in force
   */
  static RebalanceState ask(
      NamenodeClient namenode, RebalanceOrderProto order, Double threshold, Long bytesPerSecond)
      throws IOException {
    RebalanceRequestProto.Builder request = RebalanceRequestProto.newBuilder().setOrder(order);
    if (threshold != null) {
      request.setThreshold(threshold);
    }
    if (bytesPerSecond != null) {
      request.setBytesPerSecond(bytesPerSecond);
    }
    return of(RemoteCall.answerOf(() -> namenode.coding().rebalance(null, request.build())));
  }

  private static RebalanceState of(RebalanceResponseProto answer) {
    return new RebalanceState(
        answer.hasRefusal() ? answer.getRefusal() : null,
        answer.getRunning(),
        answer.getThreshold(),
        answer.getBytesPerSecond(),
        answer.getMeanShare(),
        answer.getFlowsList().stream()
            .map(
                flow ->
                    new DiskFlow(
                        flow.getServer(),
                        flow.getStorageUuid(),
                        flow.getUsedShare(),
                        flow.getBytes()))
            .toList(),
        answer.getBytesToMove(),
        answer.hasSecondsLeft() ? answer.getSecondsLeft() : null,
        answer.getMovedBlocks(),
        answer.getMovedBytes(),
        answer.getUnderWay(),
        answer.hasStuck() ? answer.getStuck() : null);
  }

  /** The disks, one a line. */
  String disksAsText() {
    StringBuilder text = new StringBuilder();
    for (DiskFlow flow : disks) {
      text.append(
          "  %-28s %-40s %6.2f%% used, %s %s%n"
              .formatted(
                  flow.server(),
                  flow.disk(),
                  flow.usedShare() * 100,
                  flow.bytes() < 0 ? "gives" : "gets",
                  Units.showBytes(Math.abs(flow.bytes()))));
    }
    return text.toString();
  }

  /** How far it is, in a line or two. */
  String text() {
    String left =
        bytesToMove == 0
            ? "all disks are within %.1f%% of the mean of %.1f%%"
                .formatted(threshold * 100, meanShare * 100)
            : "%d disks are not within %.1f%% of the mean of %.1f%%: %s to move, about %s at %s/s"
                .formatted(
                    disks.size(),
                    threshold * 100,
                    meanShare * 100,
                    Units.showBytes(bytesToMove),
                    AdminTarget.duration(secondsLeft == null ? 0 : secondsLeft),
                    Units.showBytes(bytesPerSecond));
    return "rebalance %s; %s; %,d blocks (%s) moved, %d under way%n%s"
        .formatted(
            running ? "on" : "off",
            left,
            movedBlocks,
            Units.showBytes(movedBytes),
            underWay,
            stuck == null ? "" : "    " + stuck + System.lineSeparator());
  }
}
