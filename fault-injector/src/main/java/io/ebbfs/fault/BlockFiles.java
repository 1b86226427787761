package io.ebbfs.fault;

import io.ebbfs.testbed.process.LiveFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the finalized replicas below a chunk server's disk: {@code blk_ID} beside {@code
 * blk_ID_STAMP.meta}, below a directory {@code finalized}.
 */
final class BlockFiles {
  private static final Pattern DATA = Pattern.compile("blk_(\\d+)");
  private static final String FINALIZED = "finalized";

  private BlockFiles() {}

  /** One replica's data file. */
  record Replica(long blockId, Path file) {
    /** The data file and its checksum file. */
    List<Path> files() throws IOException {
      String name = file.getFileName().toString();
      try (Stream<Path> beside = Files.list(file.getParent())) {
        return beside
            .filter(
                p ->
                    p.equals(file)
                        || p.getFileName().toString().matches(Pattern.quote(name) + "_\\d+\\.meta"))
            .sorted()
            .toList();
      }
    }
  }

  /** All replicas, in the order of their paths. */
  static List<Replica> below(Path directory) throws IOException {
    return LiveFiles.below(directory).stream()
        .filter(BlockFiles::isFinalized)
        .map(file -> new Replica(id(file), file))
        .toList();
  }

  private static boolean isFinalized(Path file) {
    if (!DATA.matcher(file.getFileName().toString()).matches()) {
      return false;
    }
    for (Path part : file) {
      if (part.toString().equals(FINALIZED)) {
        return true;
      }
    }
    return false;
  }

  private static long id(Path file) {
    Matcher matcher = DATA.matcher(file.getFileName().toString());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(file.toString());
    }
    return Long.parseLong(matcher.group(1));
  }
}
