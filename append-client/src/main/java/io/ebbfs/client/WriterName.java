package io.ebbfs.client;

import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of the file that tells where a writer with an id of its own appends. The file is empty:
 * the name tells all, so that a rename changes all of it in one step, and fails if another process
 * has been faster. Each rename counts the version up, and whoever takes the file over begins with
 * the time in milliseconds, so that no name is used twice, also if the file was removed meanwhile.
 *
 * @param directory with a slash at its end
 * @param fileId the inode of the file that is appended to
 * @param lane the lane that the writer has joined last; empty if all records of the writer that
 *     were stored have numbers below {@code nextRecord}
 * @param nextRecord the number of the first record that was not stored when the writer joined the
 *     lane
 */
record WriterName(
    String directory,
    long fileId,
    UUID writer,
    long version,
    Optional<LaneName> lane,
    long nextRecord) {
  private static final String UUID_DIGITS = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

  /** Writer, version, slot, generation, next record. Generation 0 stands for no lane. */
  private static final Pattern REST =
      Pattern.compile("(" + UUID_DIGITS + ")-(\\d{15})-(\\d{2})-(\\d{15})-(\\d{18})");

  /** A writer that has stored nothing. A process takes this name over before it appends. */
  static WriterName first(String directory, long fileId, UUID writer) {
    return new WriterName(directory, fileId, writer, 1, Optional.empty(), 0);
  }

  /** The same state, in the hands of another process. */
  WriterName takenOver(long nowMillis) {
    return new WriterName(
        directory, fileId, writer, Math.max(version + 1, nowMillis), lane, nextRecord);
  }

  WriterName inLane(LaneName joined, long firstRecord) {
    return next(Optional.of(joined), firstRecord);
  }

  WriterName withoutLane(long firstRecord) {
    return next(Optional.empty(), firstRecord);
  }

  private WriterName next(Optional<LaneName> nextLane, long firstRecord) {
    return new WriterName(directory, fileId, writer, version + 1, nextLane, firstRecord);
  }

  String path() {
    return String.format(
        Locale.ROOT,
        "%s%s%015d-%02d-%015d-%018d",
        directory,
        prefix(fileId, Optional.of(writer)),
        version,
        lane.map(LaneName::slot).orElse(0),
        lane.map(LaneName::generation).orElse(0L),
        nextRecord);
  }

  /** The beginning of the names of all writers of a file, or of one writer. */
  static String prefix(long fileId, Optional<UUID> writer) {
    return String.format(
        Locale.ROOT, ".append-writer-%d-%s", fileId, writer.map(id -> id + "-").orElse(""));
  }

  /** Empty if the name is no such name. */
  static Optional<WriterName> of(String directory, long fileId, String name) {
    String prefix = prefix(fileId, Optional.empty());
    Matcher rest = REST.matcher(name.startsWith(prefix) ? name.substring(prefix.length()) : "");
    if (!rest.matches()) {
      return Optional.empty();
    }
    int slot = Integer.parseInt(rest.group(3));
    long generation = Long.parseLong(rest.group(4));
    return Optional.of(
        new WriterName(
            directory,
            fileId,
            UUID.fromString(rest.group(1)),
            Long.parseLong(rest.group(2)),
            generation == 0
                ? Optional.empty()
                : Optional.of(new LaneName(directory, fileId, slot, generation)),
            Long.parseLong(rest.group(5))));
  }
}
