package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.protocol.proto.CodingProtos.ReportHeatRequestProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.XAttr;

/**
 * The attribute {@code user.ebbfs.heat}: how often a file, or all files below a directory, were
 * read lately. Reads are counted by the manager, which reports those that are read most. The last
 * report is kept in memory, and none after a start. A report that is too old is not told any more.
 * Thread-safe.
 */
public final class ReportedHeat {
  /** The name without its namespace. */
  public static final String NAME = "ebbfs.heat";

  /** What the namenode keeps of one report, 12 bytes for each. */
  static final int MOST_INODES = 200_000;

  /** Fewer reads are shown as 0. */
  private static final double NEXT_TO_NOTHING = 0.005;

  private static final String UNKNOWN = "unknown";

  private final Clock clock;
  private volatile Report report = Report.NONE;

  /**
   * @param clock which must not go back
   */
  public ReportedHeat(Clock clock) {
    this.clock = clock;
  }

  /**
   * A report; immutable.
   *
   * @param ids of the inodes that it names, in order
   * @param reads of these inodes
   * @param atMillis when it came
   */
  private record Report(
      long[] ids,
      float[] reads,
      float otherFilesAtMost,
      float otherDirectoriesAtMost,
      long atMillis,
      long endsMillis) {
    static final Report NONE = new Report(new long[0], new float[0], 0, 0, 0, Long.MIN_VALUE);

    static Report of(ReportHeatRequestProto request, long nowMillis) {
      int[] order =
          IntStream.range(0, request.getInodeIdsCount())
              .boxed()
              .sorted((a, b) -> Long.compare(request.getInodeIds(a), request.getInodeIds(b)))
              .mapToInt(i -> i)
              .toArray();
      long[] ids = Arrays.stream(order).mapToLong(request::getInodeIds).toArray();
      float[] reads = new float[order.length];
      for (int i = 0; i < order.length; i++) {
        reads[i] = request.getReads(order[i]);
      }
      return new Report(
          ids,
          reads,
          request.getOtherFilesAtMost(),
          request.getOtherDirectoriesAtMost(),
          nowMillis,
          nowMillis + request.getValidMillis());
    }

    String show(Inode inode) {
      int index = Arrays.binarySearch(ids, inode.id());
      if (index >= 0) {
        return number(reads[index]);
      }
      double most = inode.isFile() ? otherFilesAtMost : otherDirectoriesAtMost;
      return most < NEXT_TO_NOTHING ? "0" : "at most " + number(most);
    }

    private static String number(double reads) {
      return reads < NEXT_TO_NOTHING
          ? "0"
          : String.format(Locale.ROOT, reads < 99.995 ? "%.2f" : "%.0f", reads);
    }
  }

  /**
   * Takes a report in the place of the one before.
   *
   * @throws IOException if the report is malformed
   */
  public void accept(ReportHeatRequestProto request) throws IOException {
    if (request.getInodeIdsCount() != request.getReadsCount()
        || request.getInodeIdsCount() > MOST_INODES) {
      throw new IOException(
          "a report of heat names %d inodes and %d counts of reads: send as many counts as inodes, and at most %d"
              .formatted(request.getInodeIdsCount(), request.getReadsCount(), MOST_INODES));
    }
    report = Report.of(request, clock.millis());
  }

  /** The attribute, if it is the heat. */
  Optional<XAttr> find(Inode inode, XAttr wanted) {
    if (wanted.getNameSpace() != XAttr.NameSpace.USER || !wanted.getName().equals(NAME)) {
      return Optional.empty();
    }
    return Optional.of(
        new XAttr.Builder()
            .setNameSpace(XAttr.NameSpace.USER)
            .setName(NAME)
            .setValue(show(inode).getBytes(StandardCharsets.UTF_8))
            .build());
  }

  private String show(Inode inode) {
    Report last = report;
    return clock.millis() > last.endsMillis
        ? UNKNOWN
        : last.show(inode)
            + " as of "
            + Instant.ofEpochMilli(last.atMillis).truncatedTo(ChronoUnit.SECONDS);
  }
}
