package io.ebbfs.cluster;

import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.DiskStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.settings.Units;
import java.util.List;

/** How far the scrubs are, in a line or two for people. Pure. */
final class ScrubReport {
  private ScrubReport() {}

  /** The scrub of blocks, over all servers that answered. */
  static String blocks(List<ChunkStatusResponseProto> servers, long nowMillis) {
    List<DiskStatusProto> disks =
        servers.stream()
            .flatMap(s -> s.getDisksList().stream())
            .filter(DiskStatusProto::hasScrubStartedMillis)
            .toList();
    if (disks.isEmpty()) {
      return "scrub of blocks: none\n";
    }
    long once = disks.stream().filter(DiskStatusProto::hasScrubEndedMillis).count();
    // A disk that was never through makes "the last whole pass" a promise not yet kept.
    String last =
        once < disks.size()
            ? "%d of %d disks have been through".formatted(once, disks.size())
            : "every disk was through "
                + ago(
                    disks.stream().mapToLong(DiskStatusProto::getScrubEndedMillis).min().orElse(0),
                    nowMillis);
    return "scrub of blocks: %s; since the servers' start %d blocks, %s, %d corrupt, %d missing%n"
        .formatted(
            last,
            servers.stream().mapToLong(ChunkStatusResponseProto::getBlocksScrubbed).sum(),
            StatusReport.bytes(
                servers.stream().mapToLong(ChunkStatusResponseProto::getBytesScrubbed).sum()),
            servers.stream().mapToLong(ChunkStatusResponseProto::getScrubCorruptFound).sum(),
            servers.stream().mapToLong(ChunkStatusResponseProto::getScrubMissingFound).sum());
  }

  /** The scrub of equations, as the namenode keeps it. */
  static String stripes(GetClusterResponseProto cluster, long nowMillis) {
    if (!cluster.hasScrub()) {
      return "scrub of stripes: none\n";
    }
    ScrubStatusProto scrub = cluster.getScrub();
    StringBuilder text = new StringBuilder("scrub of stripes: ");
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
