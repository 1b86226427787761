package io.ebbfs.workloads.traffic;

import java.util.List;

/**
 * Files and the times of their reads. Immutable.
 *
 * @param name for people
 * @param files in the order in which they are written
 * @param reads in the order of time
 * @param epochs the number of epochs, which have equal durations; hot files differ between epochs
 * @param durationMillis of the whole
 */
public record Workload(
    String name, List<File> files, List<Read> reads, int epochs, long durationMillis) {
  /**
   * A file.
   *
   * @param path relative to the directory of the workload
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

  /** The same workload with each length rounded up to whole blocks. */
  public Workload withWholeBlocks(long blockBytes) {
    List<File> whole =
        files.stream()
            .map(f -> new File(f.path(), (f.bytes() + blockBytes - 1) / blockBytes * blockBytes))
            .toList();
    return new Workload(name, whole, reads, epochs, durationMillis);
  }

  /** The number of reads of each file in an epoch, by its index. */
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
