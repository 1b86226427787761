package io.ebbfs.verify.policy;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** The files that are truly hot: the tenth of all files that is read most in a day. */
final class HottestFiles {
  private static final int HOURS = 24;
  private static final int PART = 10;

  private HottestFiles() {}

  /**
   * Whether a file is one of the hottest of the day of an hour.
   *
   * @param opens by hour, then by file
   * @return by hour, then by file
   */
  static boolean[][] byHour(int[][] opens) {
    boolean[][] hot = new boolean[opens.length][];
    for (int day = 0; day < opens.length; day += HOURS) {
      int end = Math.min(opens.length, day + HOURS);
      Arrays.fill(hot, day, end, hottest(Arrays.copyOfRange(opens, day, end)));
    }
    return hot;
  }

  /** Among files with equally many reads the first ones are taken. A file without reads is cold. */
  private static boolean[] hottest(int[][] opensOfDay) {
    int[] reads = new int[opensOfDay[0].length];
    for (int[] hour : opensOfDay) {
      Arrays.setAll(reads, file -> reads[file] + hour[file]);
    }
    boolean[] hot = new boolean[reads.length];
    IntStream.range(0, reads.length)
        .boxed()
        .filter(file -> reads[file] > 0)
        .sorted(Comparator.comparingInt((Integer file) -> -reads[file]))
        .limit(Math.max(1, reads.length / PART))
        .forEach(file -> hot[file] = true);
    return hot;
  }
}
