package io.ebbfs.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.TreeMap;

/**
 * What {@code cluster.json} holds: how the cluster was laid out, and the processes that were
 * started and not yet stopped.
 *
 * @param format version of the file, 1
 * @param servers chunk servers
 * @param disks disks (directories) of each
 * @param blockSizeBytes block size that clients of this cluster write with
 * @param heartbeatMillis how often a chunk server reports
 * @param ports all ports
 * @param lab the network that its processes live in; null for loopback
 * @param racks that the servers are spread over; 0 and 1 are the same
 * @param processes by process name: {@code namenode}, {@code kafka}, {@code control}, {@code
 *     server-NN}
 */
public record Layout(
    int format,
    int servers,
    int disks,
    long blockSizeBytes,
    long heartbeatMillis,
    Ports ports,
    Lab lab,
    int racks,
    Map<String, ProcessId> processes) {
  static final int FORMAT = 1;
  private static final String FILE = "cluster.json";
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
          .build();

  public Layout {
    processes = processes == null ? new TreeMap<>() : new TreeMap<>(processes);
  }

  static boolean existsIn(Path directory) {
    return Files.exists(directory.resolve(FILE));
  }

  static Layout read(Path directory) throws ClusterException {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) {
      throw new ClusterException(
          "no cluster in %s: it holds no %s; name the directory of one with --dir, or create one"
                  .formatted(directory, FILE)
              + " with 'up'");
    }
    try {
      Layout layout = JSON.readValue(file.toFile(), Layout.class);
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

  /** Replaces the file as a whole: a reader sees the old one or the new one. */
  void write(Path directory) throws IOException {
    Path next = directory.resolve(FILE + ".tmp");
    JSON.writeValue(next.toFile(), this);
    Files.move(
        next,
        directory.resolve(FILE),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  /** The address that a process listens at. */
  String host(String process) {
    return lab == null ? "127.0.0.1" : lab.host(process);
  }

  /** The rack of a server of a cluster that has racks. */
  String rack(int server) {
    return "/rack-%02d".formatted(server % racks);
  }

  /** Where a process listens at a port: {@code host:port}. */
  String address(String process, int port) {
    return host(process) + ":" + port;
  }

  Layout withPorts(Ports other) {
    return new Layout(
        format, servers, disks, blockSizeBytes, heartbeatMillis, other, lab, racks, processes);
  }
}
