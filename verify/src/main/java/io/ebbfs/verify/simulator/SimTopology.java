package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.datanodes.RackTopology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The racks of simulated servers: consecutive servers are in consecutive racks. */
final class SimTopology {
  private static final int SERVERS = 30;
  private static final Map<Integer, Path> FILES = new ConcurrentHashMap<>();

  private SimTopology() {}

  static int rackOf(int server, int racks) {
    return server % racks;
  }

  /** A topology of this number of racks; no topology if there is one rack. */
  static RackTopology topology(int racks) throws IOException {
    if (racks == 1) {
      return RackTopology.none();
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
    return RackTopology.of(file);
  }
}
