package io.ebbfs.namenode.datanodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The racks of chunk servers, from a table and a program.
 *
 * <p>The table is a file with one line per server: {@code host-or-address[:port] /rack}. The port
 * is the port of data transfer; {@code #} begins a comment. The file is read again when it has
 * changed; if the new text is wrong, the old racks stay. A server that the table does not name is
 * looked up by the program ({@link RackScript}). Without a program such a server is in {@value
 * #DEFAULT_RACK}. Thread-safe.
 */
public final class RackTopology {
  static final String DEFAULT_RACK = "/default-rack";

  private static final Logger LOG = LoggerFactory.getLogger(RackTopology.class);

  private final Path file;
  private final RackScript script;
  private FileTime readAt;
  private volatile Map<String, String> racks = Map.of();

  private RackTopology(Path file, RackScript script) {
    this.file = file;
    this.script = script;
  }

  /** All servers in one rack. */
  public static RackTopology none() {
    return new RackTopology(null, null);
  }

  /** Racks from a table alone; see {@link #of(String, String)}. */
  public static RackTopology of(Path file) throws IOException {
    return of(file.toString(), "");
  }

  /**
   * Reads racks from a table, and looks others up by a program.
   *
   * @param file the table; empty for none
   * @param program the program; empty for none
   * @throws IOException if the table cannot be read, a line is wrong, or the program cannot be run
   */
  public static RackTopology of(String file, String program) throws IOException {
    return of(file, program.isBlank() ? null : RackScript.of(Path.of(program)));
  }

  static RackTopology of(String file, RackScript script) throws IOException {
    if (file.isBlank()) {
      return new RackTopology(null, script);
    }
    RackTopology topology = new RackTopology(Path.of(file), script);
    topology.readAt = Files.getLastModifiedTime(topology.file);
    topology.racks = parse(topology.file, Files.readAllLines(topology.file));
    return topology;
  }

  /** Reads the table again if it has changed, and forgets the answers of a program that has. */
  public synchronized void refresh() {
    if (script != null) {
      script.refresh();
    }
    if (file == null) {
      return;
    }
    try {
      FileTime now = Files.getLastModifiedTime(file);
      if (!now.equals(readAt)) {
        readAt = now;
        racks = parse(file, Files.readAllLines(file));
      }
    } catch (IOException e) {
      LOG.warn("The racks stay as they were, because their file is wrong: {}", e.getMessage());
    }
  }

  /**
   * Asks the program, in few runs, for addresses of which it has not told the rack. May take as
   * long as the program does.
   */
  public void prepare(Collection<String> addresses) {
    if (script != null) {
      script.ask(addresses);
    }
  }

  /**
   * The rack of a server. A line of the table with the port goes before a line without, and the
   * table before the program. May take as long as the program does.
   *
   * @return empty if the program does not tell the rack now
   */
  public Optional<String> rackOf(String hostName, String ipAddress, int transferPort) {
    Map<String, String> now = racks;
    for (String name :
        List.of(
            ipAddress + ":" + transferPort, hostName + ":" + transferPort, ipAddress, hostName)) {
      String rack = now.get(name);
      if (rack != null) {
        return Optional.of(rack);
      }
    }
    return script == null ? Optional.of(DEFAULT_RACK) : script.rackOf(ipAddress);
  }

  static boolean isRack(String word) {
    return word.startsWith("/") && word.length() > 1;
  }

  private static Map<String, String> parse(Path file, List<String> lines) throws IOException {
    Map<String, String> racks = new HashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceFirst("#.*", "").strip();
      if (line.isEmpty()) {
        continue;
      }
      String[] words = line.split("\\s+");
      if (words.length != 2 || !isRack(words[1])) {
        throw new IOException(
            "%s, line %d: '%s' names no server and rack: write 'host-or-address[:port] /rack'"
                .formatted(file, i + 1, line));
      }
      racks.put(words[0], words[1]);
    }
    return Map.copyOf(racks);
  }
}
