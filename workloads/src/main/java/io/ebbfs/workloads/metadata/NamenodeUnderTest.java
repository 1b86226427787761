package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A system that calls of HDFS clients reach: a namenode, and servers of blocks. */
interface NamenodeUnderTest extends ServerUnderLoad, AutoCloseable {
  /** {@link ComparedNamenodes#EBBFS} or {@link ComparedNamenodes#HDFS}. */
  @Override
  String name();

  /** Launches the namenode, which does not run, over its files, and does not wait for it. */
  void launchNamenode() throws ClusterException, IOException;

  /** Waits until the namenode accepts connections. */
  void awaitNamenode() throws ClusterException, IOException, InterruptedException;

  /** Ends the namenode cleanly. */
  void stopNamenode() throws ClusterException, InterruptedException;

  /** Launches one more server of blocks and does not wait for it. */
  void launchDataServer() throws ClusterException, IOException;

  /** Kills the servers of blocks. */
  void killDataServers() throws ClusterException, InterruptedException;

  /** Launches the killed servers of blocks again and does not wait for them. */
  void relaunchDataServers() throws ClusterException;

  /**
   * Makes all files of a tree but the first, without a call. Nothing of this system runs, and the
   * first file is on the disk, its block too: it has one exactly if there is a server of blocks.
   */
  void copyFiles(CopiedTree tree) throws IOException;

  /** The directories with the blocks of the servers. */
  List<Path> disks();

  /** The port at which a server of blocks takes orders of an administrator. */
  int dataServerIpcPort(int server) throws IOException;

  @Override
  void close() throws ClusterException, IOException, InterruptedException;
}
