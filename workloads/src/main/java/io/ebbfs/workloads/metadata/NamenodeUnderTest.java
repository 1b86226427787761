package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;

/** A running namenode that calls of HDFS clients reach, and its processor time and memory. */
interface NamenodeUnderTest extends AutoCloseable {
  /** {@code ebbfs} or {@code hdfs}. */
  String name();

  String host();

  int port();

  /** The process id of the namenode. */
  long pid();

  @Override
  void close() throws ClusterException, IOException, InterruptedException;
}
