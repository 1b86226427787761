package io.ebbfs.namespace.simulation;

import io.ebbfs.namespace.block.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Servers in racks, in turn. */
final class Racks {
  private static final int SERVERS = 30;
  private static final Map<Integer, Path> FILES = new ConcurrentHashMap<>();

  private Racks() {}

  static int rackOf(int server, int racks) {
    return server % racks;
  }

  /** The topology of so many racks; none if there is one. */
  static Topology topology(int racks) throws IOException {
    if (racks == 1) {
      return Topology.none();
    }
    Path file = FILES.get(racks);
    if (file == null) {
      List<String> lines = new ArrayList<>();
      for (int server = 0; server < SERVERS; server++) {
        lines.add(SimServer.host(server) + " /rack-" + rackOf(server, racks));
      }
      file = Files.createTempFile("racks-", ".txt");
      file.toFile().deleteOnExit();
      Files.write(file, lines);
      FILES.put(racks, file);
    }
    return Topology.of(file);
  }
}
