package io.ebbfs.client;

import java.util.Locale;
import java.util.Optional;

/**
 * The names of the two files of a lane, beside the file to which the lane belongs. No name is used
 * twice: the newest ledger of a slot stays, and the next lane of the slot has the next generation.
 * The first generation is the time in milliseconds, in case all ledgers were removed. The names
 * hold the inode and not the name of the file, so that a lane is found after the file was renamed.
 *
 * @param directory with a slash at its end
 * @param fileId the inode of the file
 * @param slot from 0 to the number of lanes
 */
record LaneName(String directory, long fileId, int slot, long generation) {
  private static final int GENERATION_DIGITS = 15;

  String block() {
    return directory + name("lane");
  }

  String ledger() {
    return directory + name("ledger");
  }

  private String name(String kind) {
    return String.format(
        Locale.ROOT, "%s%s%015d", prefix(fileId, kind), slotPrefix(slot), generation);
  }

  LaneName next() {
    return new LaneName(directory, fileId, slot, generation + 1);
  }

  /** The beginning of the names of all ledgers of a file. */
  static String ledgers(long fileId) {
    return prefix(fileId, "ledger");
  }

  /** The beginning of the names of the blocks of all lanes of a file. */
  static String blocks(long fileId) {
    return prefix(fileId, "lane");
  }

  /** The beginning of the names of a slot, behind one of these two. */
  static String slotPrefix(int slot) {
    return String.format(Locale.ROOT, "%02d-", slot);
  }

  private static String prefix(long fileId, String kind) {
    return String.format(Locale.ROOT, ".append-%s-%d-", kind, fileId);
  }

  /**
   * The lane of the ledger, or of the block, with this name.
   *
   * @param prefix {@link #ledgers} or {@link #blocks} of the file
   * @return empty if the name is no such name
   */
  static Optional<LaneName> of(String directory, String prefix, long fileId, String name) {
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
            fileId,
            Integer.parseInt(rest.substring(0, 2)),
            Long.parseLong(rest.substring(3))));
  }
}
