package io.ebbfs.testbed.cluster;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.Ports;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The properties of a cluster to create.
 *
 * @param directory of its configuration, logs and data
 * @param servers chunk servers, 1 to 64
 * @param disks disks of each, 1 to 64
 * @param blockSizeBytes block size of the files that clients write
 * @param port the namenode's, from which the others follow (see {@link Ports#fixed}); 0 for any
 * @param httpPort REST and dashboard; null derives it from {@code port}
 * @param heartbeatMillis from one heartbeat of a chunk server to the next
 * @param confFiles configuration files, by path below {@code conf}, that replace the examples of
 *     EbbFS
 * @param lab the network of its processes; null for loopback
 * @param racks over which the servers are spread in turn
 * @param namenodes one with an embedded store, or several that share a store of three nodes
 */
public record ClusterSpec(
    Path directory,
    int servers,
    int disks,
    long blockSizeBytes,
    int port,
    Integer httpPort,
    long heartbeatMillis,
    Map<String, String> confFiles,
    ShapedNetwork lab,
    int racks,
    int namenodes) {
  private static final int MAX = 64;
  private static final int MAX_NAMENODES = 9;
  private static final long MIN_BLOCK_BYTES = 64 * 1024;

  public ClusterSpec {
    confFiles = Map.copyOf(confFiles);
  }

  /** The default of {@code ebb up}: 12 servers with 6 disks each, blocks of 64 MiB. */
  public static ClusterSpec of(Path directory) {
    return new ClusterSpec(
        directory, 12, 6, 64L << 20, Ports.DEFAULT_NAMENODE, null, 1000, Map.of(), null, 1, 1);
  }

  /** The values of a changed copy. */
  private static final class Draft {
    private int servers;
    private int disks;
    private long blockSizeBytes;
    private int port;
    private Integer httpPort;
    private long heartbeatMillis;
    private Map<String, String> confFiles;
    private ShapedNetwork lab;
    private int racks;
    private int namenodes;

    Draft(ClusterSpec from) {
      servers = from.servers;
      disks = from.disks;
      blockSizeBytes = from.blockSizeBytes;
      port = from.port;
      httpPort = from.httpPort;
      heartbeatMillis = from.heartbeatMillis;
      confFiles = from.confFiles;
      lab = from.lab;
      racks = from.racks;
      namenodes = from.namenodes;
    }
  }

  private ClusterSpec with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new ClusterSpec(
        directory,
        draft.servers,
        draft.disks,
        draft.blockSizeBytes,
        draft.port,
        draft.httpPort,
        draft.heartbeatMillis,
        draft.confFiles,
        draft.lab,
        draft.racks,
        draft.namenodes);
  }

  /** The same with other numbers of servers and of disks each. */
  public ClusterSpec withServers(int servers, int disks) {
    return with(
        draft -> {
          draft.servers = servers;
          draft.disks = disks;
        });
  }

  /** The same with the servers spread over a number of racks. */
  public ClusterSpec withRacks(int number) {
    return with(draft -> draft.racks = number);
  }

  /** The same with several namenodes. */
  public ClusterSpec withNamenodes(int number) {
    return with(draft -> draft.namenodes = number);
  }

  /** The same with another block size. */
  public ClusterSpec withBlockSize(long bytes) {
    return with(draft -> draft.blockSizeBytes = bytes);
  }

  /** The same with other ports. 0 means free ports; a null HTTP port follows from the first. */
  public ClusterSpec withPorts(int port, Integer httpPort) {
    return with(
        draft -> {
          draft.port = port;
          draft.httpPort = httpPort;
        });
  }

  /** The same with another interval of heartbeats. */
  public ClusterSpec withHeartbeat(long millis) {
    return with(draft -> draft.heartbeatMillis = millis);
  }

  /** The same with these configuration files in place of the examples. */
  public ClusterSpec withConfFiles(Map<String, String> files) {
    return with(draft -> draft.confFiles = files);
  }

  /** The same in a network of its own. */
  public ClusterSpec in(ShapedNetwork network) {
    return with(draft -> draft.lab = network);
  }

  void check() throws ClusterException {
    checkRange("servers", servers, 1, MAX);
    checkRange("disks", disks, 1, MAX);
    checkRange("racks", racks, 1, servers);
    checkRange("namenodes", namenodes, 1, MAX_NAMENODES);
    checkRange("block size", blockSizeBytes, MIN_BLOCK_BYTES, 1L << 31);
    checkRange("heartbeat millis", heartbeatMillis, 50, 60_000);
    checkRange("port", port, 0, 65_535);
    checkRange("http port", httpPort == null ? 0 : httpPort, 0, 65_535);
    if (blockSizeBytes % 512 != 0) {
      throw new ClusterException(
          "block size %d is no multiple of 512, the bytes of a checksum".formatted(blockSizeBytes));
    }
  }

  private static void checkRange(String name, long value, long from, long to)
      throws ClusterException {
    if (value < from || value > to) {
      throw new ClusterException(
          "%s %d is out of range: choose from %d to %d".formatted(name, value, from, to));
    }
  }

  Ports choosePorts() throws ClusterException {
    return Ports.choose(port, httpPort, servers, namenodes);
  }
}
