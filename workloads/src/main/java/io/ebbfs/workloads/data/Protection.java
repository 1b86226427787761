package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;

/** A kind of redundancy of one system: how files get it, and how losses are repaired. */
interface Protection extends AutoCloseable {
  /** The directory of the files. */
  String directory();

  /** Bytes on all disks, without checksums, when these files are whole and nothing is left over. */
  long storedBytes(FileSet files);

  /** Writes the files, with this redundancy in the end. */
  void write(Side side, FileSet files) throws IOException, ClusterException, InterruptedException;

  /** Waits until the namenode knows of a loss. */
  void awaitLoss() throws IOException, InterruptedException;

  /** Waits until everything is whole again. */
  void awaitWhole() throws IOException, InterruptedException;

  /**
   * What the repair since the last loss moved.
   *
   * @param lostBytes that were rebuilt
   */
  Run.Traffic traffic(long lostBytes) throws IOException;

  @Override
  void close() throws IOException;
}
