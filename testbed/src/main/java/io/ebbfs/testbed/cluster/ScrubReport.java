package io.ebbfs.testbed.cluster;

import io.ebbfs.common.config.Units;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.DiskStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import java.util.List;

/** The progress of the block scrub and the parity scrub, a line for each. Pure. */
final class ScrubReport {
  private ScrubReport() {}

  /** The block scrub, over all servers that answered. */
  static String blocks(List<ChunkStatusResponseProto> servers, long nowMillis) {
    List<DiskStatusProto> disks =
        servers.stream()
            .flatMap(s -> s.getDisksList().stream())
            .filter(DiskStatusProto::hasScrubStartedMillis)
            .toList();
    if (disks.isEmpty()) {
      return "block scrub: none\n";
    }
    long once = disks.stream().filter(DiskStatusProto::hasScrubEndedMillis).count();
    // There is a last whole pass only if every disk has had one.
    String last =
        once < disks.size()
            ? "%d of %d disks had a whole pass".formatted(once, disks.size())
            : "every disk had a whole pass "
                + ago(
                    disks.stream().mapToLong(DiskStatusProto::getScrubEndedMillis).min().orElse(0),
                    nowMillis);
    return "block scrub: %s; since the servers' start %d blocks, %s, %d corrupt, %d missing%n"
        .formatted(
            last,
            servers.stream().mapToLong(ChunkStatusResponseProto::getBlocksScrubbed).sum(),
            StatusReport.bytes(
                servers.stream().mapToLong(ChunkStatusResponseProto::getBytesScrubbed).sum()),
            servers.stream().mapToLong(ChunkStatusResponseProto::getScrubCorruptFound).sum(),
            servers.stream().mapToLong(ChunkStatusResponseProto::getScrubMissingFound).sum());
  }

  /** The parity scrub, whose position the namenode keeps. */
  static String stripes(GetClusterResponseProto cluster, long nowMillis) {
    if (!cluster.hasScrub()) {
      return "parity scrub: none\n";
    }
    ScrubStatusProto scrub = cluster.getScrub();
    StringBuilder text = new StringBuilder("parity scrub: ");
    text.append(
        scrub.hasEndedMillis()
            ? "last whole pass ended %s, %d stripes, %d findings"
                .formatted(
                    ago(scrub.getEndedMillis(), nowMillis),
                    scrub.getEndedStripes(),
                    scrub.getEndedFindings())
            : "no whole pass yet");
    if (scrub.getSuspectsCount() > 0) {
      text.append("; %d stripes with suspect data".formatted(scrub.getSuspectsCount()));
    }
    return text.append('\n').toString();
  }

  private static String ago(long millis, long nowMillis) {
    return Units.showMillis(Math.max(0, nowMillis - millis)) + " ago";
  }
}
