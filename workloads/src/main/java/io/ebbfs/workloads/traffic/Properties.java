package io.ebbfs.workloads.traffic;

import io.ebbfs.workloads.traffic.Workload.File;
import java.util.List;

/**
 * Properties of a workload, measured on its files and reads over all epochs.
 *
 * @param hotReads the share of the reads that goes to files read more often than the mean
 * @param coldFiles the share of the files that are not read more often than the mean
 * @param hotBytes the share of the bytes in hot files
 * @param drift the share of the hot files that are cold in the next epoch; 0 for a single epoch
 * @param medianBytes length of the median file
 * @param readBytes bytes of all reads
 */
public record Properties(
    double hotReads,
    double coldFiles,
    double hotBytes,
    double drift,
    long medianBytes,
    long readBytes) {

  /** Measures a workload. */
  public static Properties of(Workload workload) {
    List<File> files = workload.files();
    double hotReads = 0;
    double coldFiles = 0;
    double hotBytes = 0;
    double gone = 0;
    double wasHot = 0;
    boolean[] before = null;
    for (int epoch = 0; epoch < workload.epochs(); epoch++) {
      int[] counts = workload.readsIn(epoch);
      boolean[] hot = hot(counts);
      for (int i = 0; i < hot.length; i++) {
        hotReads += hot[i] ? counts[i] : 0;
        coldFiles += hot[i] ? 0 : 1;
        hotBytes += hot[i] ? files.get(i).bytes() : 0;
        if (before != null && before[i]) {
          wasHot++;
          gone += hot[i] ? 0 : 1;
        }
      }
      before = hot;
    }
    long readBytes =
        workload.reads().stream().mapToLong(read -> files.get(read.file()).bytes()).sum();
    long[] lengths = files.stream().mapToLong(File::bytes).sorted().toArray();
    return new Properties(
        hotReads / workload.reads().size(),
        coldFiles / (files.size() * workload.epochs()),
        hotBytes / ((double) workload.bytes() * workload.epochs()),
        wasHot == 0 ? 0 : gone / wasHot,
        lengths[lengths.length / 2],
        readBytes);
  }

  private static boolean[] hot(int[] counts) {
    long all = 0;
    for (int count : counts) {
      all += count;
    }
    boolean[] hot = new boolean[counts.length];
    for (int i = 0; i < hot.length; i++) {
      hot[i] = (long) counts[i] * counts.length > all;
    }
    return hot;
  }
}
