package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;

/**
 * Replicas, or a policy of HDFS by which the client encodes. The places of the blocks tell whether
 * a file is whole.
 */
final class PlacesProtection implements Protection {
  /** Of a group by RS-6-3. */
  private static final int DATA_BLOCKS = 6;

  private final RepairWatch watch;
  private final String directory;
  private final String policy;
  private final int places;
  private final int movedPerLost;

  /**
   * @param policy RS-6-3 of HDFS; empty for replicas
   * @param places of each block or group
   * @param movedPerLost bytes that a repair reads and writes for a lost byte
   */
  PlacesProtection(
      ComparedSystem system, String directory, String policy, int places, int movedPerLost)
      throws IOException {
    this.watch = new RepairWatch(system);
    this.directory = directory;
    this.policy = policy;
    this.places = places;
    this.movedPerLost = movedPerLost;
  }

  @Override
  public String directory() {
    return directory;
  }

  @Override
  public long storedBytes(FileSet files) {
    return policy.isEmpty() ? files.allBytes() * places : files.allBytes() * places / DATA_BLOCKS;
  }

  @Override
  public void write(Side side, FileSet files)
      throws IOException, ClusterException, InterruptedException {
    side.loader().makeDirectory(directory, policy);
    side.loader().write(files, 3, files.count());
  }

  @Override
  public void awaitLoss() throws IOException, InterruptedException {
    watch.awaitLoss(directory, places);
  }

  @Override
  public void awaitWhole() throws IOException, InterruptedException {
    watch.awaitPlaces(directory, places);
  }

  @Override
  public Run.Traffic traffic(long lostBytes) {
    return new Run.Traffic(0, lostBytes * movedPerLost);
  }

  @Override
  public void close() throws IOException {
    watch.close();
  }
}
