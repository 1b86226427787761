package io.ebbfs.namenode;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/** Stock HDFS DataNodes of this process, with their disks below one directory. */
public final class StockDataNodes {
  private final Path directory;

  public StockDataNodes(Path directory) {
    DefaultMetricsSystem.setMiniClusterMode(true); // several daemons in one process
    this.directory = directory;
  }

  /**
   * Starts a DataNode with two disks.
   *
   * @param number names its disks; a number that was used before finds its old disks
   * @param namenodes the configuration that names the namenodes
   */
  public DataNode start(int number, Configuration namenodes) throws IOException {
    Configuration conf = new Configuration(namenodes);
    Path disks = directory.resolve("datanode" + number);
    conf.set(
        DFSConfigKeys.DFS_DATANODE_DATA_DIR_KEY,
        "file:"
            + Files.createDirectories(disks.resolve("a"))
            + ",file:"
            + Files.createDirectories(disks.resolve("b")));
    conf.set(DFSConfigKeys.DFS_DATANODE_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_HTTP_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_IPC_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_HOST_NAME_KEY, "127.0.0.1");
    conf.setInt(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, 1);
    conf.setBoolean("dfs.datanode.dns.interface.fallback", false);
    DataNode dataNode = DataNode.instantiateDataNode(new String[0], conf);
    dataNode.runDatanodeDaemon();
    return dataNode;
  }

  /** The number of finalized replicas on all disks; -1 if files came or went during the count. */
  public long replicas() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(p -> p.toString().contains("finalized"))
          .filter(p -> p.getFileName().toString().matches("blk_\\d+"))
          .count();
    } catch (UncheckedIOException e) {
      return -1;
    }
  }
}
