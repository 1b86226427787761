package io.ebbfs.client;

import java.util.Optional;

/**
 * The names of the two files of a lane, beside the file to which the lane belongs. No name is used
 * twice: the newest ledger of a slot stays, and the next lane of the slot has the next generation.
 * The first generation is the time in milliseconds, in case all ledgers were removed.
 *
 * @param directory with a slash at its end
 * @param fileId the inode of the file
 * @param slot from 0 to the number of lanes
 */
record LaneName(String directory, String file, long fileId, int slot, long generation) {
  private static final int GENERATION_DIGITS = 15;

  String block() {
    return directory + name("lane");
  }

  String ledger() {
    return directory + name("ledger");
  }

  private String name(String kind) {
    return "%s%02d-%015d".formatted(prefix(file, fileId, kind), slot, generation);
  }

  LaneName next() {
    return new LaneName(directory, file, fileId, slot, generation + 1);
  }

  /** The beginning of the names of all ledgers of a file. */
  static String ledgers(String file, long fileId) {
    return prefix(file, fileId, "ledger");
  }

  private static String prefix(String file, long fileId, String kind) {
    return ".%s.%s-%d-".formatted(file, kind, fileId);
  }

  /** The lane of the ledger with this name. Empty if it is no ledger of the file. */
  static Optional<LaneName> ofLedger(String directory, String file, long fileId, String name) {
    String prefix = ledgers(file, fileId);
    if (!name.startsWith(prefix)) {
      return Optional.empty();
    }
    String rest = name.substring(prefix.length());
    if (!rest.matches("\\d{2}-\\d{" + GENERATION_DIGITS + "}")) {
      return Optional.empty();
    }
    return Optional.of(
        new LaneName(
            directory,
            file,
            fileId,
            Integer.parseInt(rest.substring(0, 2)),
            Long.parseLong(rest.substring(3))));
  }
}
