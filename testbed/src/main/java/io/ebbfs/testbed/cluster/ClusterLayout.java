package io.ebbfs.testbed.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.Ports;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The content of {@code cluster.json}: the numbers and ports of a cluster, and its processes that
 * were started and not yet stopped.
 *
 * @param format version of the file, 1
 * @param servers chunk servers
 * @param disks disks (directories) of each
 * @param blockSizeBytes block size of the files that clients write
 * @param heartbeatMillis from one heartbeat of a chunk server to the next
 * @param ports all ports
 * @param lab the network of its processes; null for loopback
 * @param racks over which the servers are spread; 0 means 1
 * @param processes by process name: {@code namenode}, {@code kafka}, {@code control}, {@code
 *     server-NN}
 */
public record ClusterLayout(
    int format,
    int servers,
    int disks,
    long blockSizeBytes,
    long heartbeatMillis,
    Ports ports,
    ShapedNetwork lab,
    int racks,
    Map<String, ProcessId> processes) {
  static final int FORMAT = 1;
  private static final String FILE = "cluster.json";
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
          .build();

  public ClusterLayout {
    processes = processes == null ? new TreeMap<>() : new TreeMap<>(processes);
  }

  static boolean existsIn(Path directory) {
    return Files.exists(directory.resolve(FILE));
  }

  static ClusterLayout read(Path directory) throws ClusterException {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) {
      throw new ClusterException(
          "no cluster in %s: it holds no %s; name the directory of one with --dir, or create one"
                  .formatted(directory, FILE)
              + " with 'up'");
    }
    try {
      ClusterLayout layout = JSON.readValue(file.toFile(), ClusterLayout.class);
      if (layout.format != FORMAT || layout.ports == null) {
        throw new ClusterException(
            "%s has format %d, this version reads %d: use the version that wrote it"
                .formatted(file, layout.format, FORMAT));
      }
      return layout;
    } catch (JsonProcessingException e) {
      throw new ClusterException(
          "%s is damaged: %s; restore it from a copy, or choose another directory with --dir"
              .formatted(file, e.getOriginalMessage()),
          e);
    } catch (IOException e) {
      throw new ClusterException("%s cannot be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** Replaces the file in one step: a reader sees the old content or the new one. */
  void write(Path directory) throws IOException {
    Path next = directory.resolve(FILE + ".tmp");
    JSON.writeValue(next.toFile(), this);
    Files.move(
        next,
        directory.resolve(FILE),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  /** The host of a process. */
  String host(String process) {
    return lab == null ? "127.0.0.1" : lab.host(process);
  }

  /** How many namenodes there are. */
  public int namenodes() {
    return 1 + ports.more().size();
  }

  /** The address of a namenode. */
  String namenode(int index) {
    String name = ProcessNames.namenode(index);
    return address(name, index == 0 ? ports.namenode() : ports.more().get(index - 1));
  }

  /** Where the namenodes answer over HTTP; empty if they do not. */
  public List<String> webs() {
    return IntStream.range(0, ports.web().size())
        .mapToObj(i -> address(ProcessNames.namenode(i), ports.web().get(i)))
        .toList();
  }

  /** Whether a process with HttpFS serves WebHDFS. */
  boolean hasWebHdfs() {
    return ports.webHdfs() != 0;
  }

  /** The file system of WebHDFS as clients name it. */
  public Optional<String> webHdfsUri() {
    return hasWebHdfs()
        ? Optional.of("webhdfs://" + address(ProcessNames.HTTPFS, ports.webHdfs()))
        : Optional.empty();
  }

  /** The addresses of all namenodes, separated by commas. */
  String namenodeList() {
    return IntStream.range(0, namenodes())
        .mapToObj(this::namenode)
        .collect(Collectors.joining(","));
  }

  /** The addresses of the nodes of the namenodes' store, separated by commas. */
  String storeList() {
    return IntStream.range(0, ports.store().size())
        .mapToObj(i -> address(ProcessNames.store(i), ports.store().get(i)))
        .collect(Collectors.joining(","));
  }

  /** The processes of which each cluster has a number: all but chunk servers. */
  public int fixedProcesses() {
    return 2 + namenodes() + ports.store().size() + (hasWebHdfs() ? 1 : 0);
  }

  /** The rack of a server of a cluster that has racks. */
  String rack(int server) {
    return "/rack-%02d".formatted(server % racks);
  }

  /** The address of a process with a port: {@code host:port}. */
  public String address(String process, int port) {
    return host(process) + ":" + port;
  }

  ClusterLayout withPorts(Ports other) {
    return new ClusterLayout(
        format, servers, disks, blockSizeBytes, heartbeatMillis, other, lab, racks, processes);
  }
}
