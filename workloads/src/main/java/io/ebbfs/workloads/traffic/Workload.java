package io.ebbfs.workloads.traffic;

import java.util.List;

/**
 * Files, and when each is read. Immutable.
 *
 * @param name for people
 * @param files in the order in which they are written
 * @param reads in the order of time
 * @param epochs the hot files may be others in each; of equal duration
 * @param durationMillis of the whole
 */
public record Workload(
    String name, List<File> files, List<Read> reads, int epochs, long durationMillis) {
  /**
   * A file.
   *
   * @param path below the directory that the workload is given
   */
  public record File(String path, long bytes) {}

  /**
   * One whole read of a file.
   *
   * @param atMillis since the beginning
   * @param file index into the files
   */
  public record Read(long atMillis, int file) {}

  public Workload {
    files = List.copyOf(files);
    reads = List.copyOf(reads);
  }

  /** Bytes of all files. */
  public long bytes() {
    return files.stream().mapToLong(File::bytes).sum();
  }

  /** How often each file is read in an epoch, by index. */
  public int[] readsIn(int epoch) {
    int[] counts = new int[files.size()];
    for (Read read : reads) {
      if (Math.min(epochs - 1, read.atMillis() * epochs / durationMillis) == epoch) {
        counts[read.file()]++;
      }
    }
    return counts;
  }
}
