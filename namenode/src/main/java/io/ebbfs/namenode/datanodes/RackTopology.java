package io.ebbfs.namenode.datanodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The racks of chunk servers, from a file with one line per server: {@code host-or-address[:port]
 * /rack}. The port is the port of data transfer; {@code #} begins a comment. A server that the file
 * does not name is in {@value #DEFAULT_RACK}. Without a file all servers are in that rack. The file
 * is read again when it has changed; if the new text is wrong, the old racks stay. Thread-safe.
 */
public final class RackTopology {
  static final String DEFAULT_RACK = "/default-rack";

  private static final Logger LOG = LoggerFactory.getLogger(RackTopology.class);

  private final Path file;
  private FileTime readAt;
  private volatile Map<String, String> racks = Map.of();

  private RackTopology(Path file) {
    this.file = file;
  }

  /** All servers in one rack. */
  public static RackTopology none() {
    return new RackTopology(null);
  }

  /**
   * Reads racks from a file.
   *
   * @throws IOException if the file cannot be read or a line is wrong
   */
  public static RackTopology of(Path file) throws IOException {
    RackTopology topology = new RackTopology(file);
    topology.readAt = Files.getLastModifiedTime(file);
    topology.racks = parse(file, Files.readAllLines(file));
    return topology;
  }

  /** Reads the file again if it has changed; true if a rack has changed. */
  public synchronized boolean refresh() {
    if (file == null) {
      return false;
    }
    try {
      FileTime now = Files.getLastModifiedTime(file);
      if (now.equals(readAt)) {
        return false;
      }
      readAt = now;
      Map<String, String> read = parse(file, Files.readAllLines(file));
      boolean changed = !read.equals(racks);
      racks = read;
      return changed;
    } catch (IOException e) {
      LOG.warn("The racks stay as they were, because their file is wrong: {}", e.getMessage());
      return false;
    }
  }

  /** The rack of a server. A line with the port goes before a line without. */
  public String rackOf(String hostName, String ipAddress, int transferPort) {
    Map<String, String> now = racks;
    for (String name :
        List.of(
            ipAddress + ":" + transferPort, hostName + ":" + transferPort, ipAddress, hostName)) {
      String rack = now.get(name);
      if (rack != null) {
        return rack;
      }
    }
    return DEFAULT_RACK;
  }

  private static Map<String, String> parse(Path file, List<String> lines) throws IOException {
    Map<String, String> racks = new HashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceFirst("#.*", "").strip();
      if (line.isEmpty()) {
        continue;
      }
      String[] words = line.split("\\s+");
      if (words.length != 2 || !words[1].startsWith("/") || words[1].length() < 2) {
        throw new IOException(
            "%s, line %d: '%s' names no server and rack: write 'host-or-address[:port] /rack'"
                .formatted(file, i + 1, line));
      }
      racks.put(words[0], words[1]);
    }
    return Map.copyOf(racks);
  }
}
