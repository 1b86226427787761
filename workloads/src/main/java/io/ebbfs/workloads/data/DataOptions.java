package io.ebbfs.workloads.data;

import java.util.List;

/**
 * What is measured.
 *
 * @param groups of rows: some of {@link DataBenchmark#GROUPS}
 * @param warmUps rounds before that are not measured
 * @param rounds of each row
 * @param seed of the offsets of random reads
 * @param rate of each link and direction, as {@code 200mbit}; null for loopback
 */
public record DataOptions(
    List<String> groups,
    int warmUps,
    int rounds,
    long seed,
    boolean quick,
    Sizes sizes,
    String rate) {
  public DataOptions {
    groups = List.copyOf(groups);
  }

  /**
   * How much data.
   *
   * @param servers of each system
   * @param disks of each server
   * @param blockBytes block size of the files
   * @param largeBytes of the file of one client
   * @param manyBytes of the file of each of 16 clients
   * @param stripedBytes of a file that the client encodes
   * @param smallFiles of 64 KiB each
   * @param smallReads random reads of 4 KiB by one client; 16 clients do four times as many
   * @param largeReads random reads of 1 MiB by one client; 16 clients do twice as many
   * @param encodedFiles of 12 blocks each, which EbbFS encodes
   */
  public record Sizes(
      int servers,
      int disks,
      long blockBytes,
      long largeBytes,
      long manyBytes,
      long stripedBytes,
      int smallFiles,
      int smallReads,
      int largeReads,
      int encodedFiles) {
    public static final Sizes FULL =
        new Sizes(12, 2, 64 << 20, 512 << 20, 48 << 20, 768 << 20, 1024, 2000, 200, 2);

    public static final Sizes QUICK =
        new Sizes(10, 2, 16 << 20, 128 << 20, 16 << 20, 192 << 20, 256, 500, 60, 1);
  }

  Shape shape() {
    boolean losses = groups.contains(LossesByCode.NAME);
    return new Shape(
        losses ? LossesByCode.SERVERS : sizes.servers,
        losses ? LossesByCode.DISKS : sizes.disks,
        sizes.blockBytes,
        rate);
  }
}
