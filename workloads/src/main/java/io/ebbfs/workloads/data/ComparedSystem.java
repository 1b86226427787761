package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.StockClient;
import io.ebbfs.testbed.process.ProcessId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A running system of which stock clients are served: EbbFS or HDFS. */
interface ComparedSystem extends AutoCloseable {
  String EBBFS = "ebbfs";
  String HDFS = "hdfs";

  /** {@link #EBBFS} or {@link #HDFS}. */
  String name();

  /** Its address and settings for clients. */
  StockClient client();

  /** The processes of the namenode, and those beside it that hold no blocks. */
  List<ProcessId> namenode();

  /** The processes that hold blocks. */
  List<ProcessId> servers();

  /** The port of data transfer of each server, by its number. */
  List<Integer> transferPorts();

  /** Kills a server of blocks. */
  void kill(int server) throws ClusterException, InterruptedException;

  /** Starts a killed server again and waits until it serves. */
  void restart(int server) throws ClusterException, IOException, InterruptedException;

  /** The directories in which a server keeps blocks. */
  List<Path> disks(int server) throws ClusterException;

  @Override
  void close() throws ClusterException, IOException, InterruptedException;
}
