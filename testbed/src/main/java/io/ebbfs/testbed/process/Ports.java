package io.ebbfs.testbed.process;

import io.ebbfs.testbed.ClusterException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The TCP ports of a cluster, all on 127.0.0.1. They are chosen once, when the cluster is created,
 * and stay the same for clients and restarted processes.
 *
 * @param namenode client and chunk server RPC
 * @param kafka the broker's only listener
 * @param controller KRaft's controller, which only the broker uses
 * @param http REST and dashboard of the control plane
 * @param transfer data transfer of each chunk server
 * @param ipc chunk protocol of each chunk server
 */
public record Ports(
    int namenode, int kafka, int controller, int http, List<Integer> transfer, List<Integer> ipc) {
  /** The default port of an HDFS namenode, so that hdfs://127.0.0.1 needs no port. */
  public static final int DEFAULT_NAMENODE = 8020;

  private static final int SERVERS_OFFSET = 100;
  private static final int MAX_PORT = 65535;

  public Ports {
    transfer = List.copyOf(transfer);
    ipc = List.copyOf(ipc);
  }

  /**
   * Ports at fixed distances: the namenode at {@code base}, Kafka at +1, its controller at +2, HTTP
   * at +3 unless given, chunk server i at +100+2i (data transfer) and +101+2i (IPC).
   */
  public static Ports fixed(int base, Integer http, int servers) throws ClusterException {
    int last = base + SERVERS_OFFSET + 2 * servers - 1;
    if (base < 1 || last > MAX_PORT) {
      throw new ClusterException(
          "port %d: %d servers need ports %d to %d; choose one from 1 to %d"
              .formatted(base, servers, base, last, MAX_PORT - (last - base)));
    }
    List<Integer> transfer = new ArrayList<>();
    List<Integer> ipc = new ArrayList<>();
    for (int i = 0; i < servers; i++) {
      transfer.add(base + SERVERS_OFFSET + 2 * i);
      ipc.add(base + SERVERS_OFFSET + 2 * i + 1);
    }
    Ports ports = new Ports(base, base + 1, base + 2, base + 3, transfer, ipc);
    return http == null ? ports : ports.withHttp(http);
  }

  /** {@link #fixed}, or {@link #free} for a base of 0. */
  public static Ports choose(int base, Integer http, int servers) throws ClusterException {
    return base == 0 ? free(http, servers) : fixed(base, http, servers);
  }

  /** The same with another HTTP port; 0 for any free one. */
  public Ports withHttp(int port) throws ClusterException {
    int chosen = port == 0 ? FreePorts.find(1).get(0) : port;
    return new Ports(namenode, kafka, controller, chosen, transfer, ipc);
  }

  /** Ports that are free at this moment. */
  public static Ports free(Integer http, int servers) throws ClusterException {
    List<Integer> found = FreePorts.find(4 + 2 * servers);
    return new Ports(
        found.get(0),
        found.get(1),
        found.get(2),
        http == null || http == 0 ? found.get(3) : http,
        found.subList(4, 4 + servers),
        found.subList(4 + servers, 4 + 2 * servers));
  }

  /** Every port with its use, in the order of a status table. */
  public Map<Integer, String> all() {
    Map<Integer, String> all = new LinkedHashMap<>();
    all.put(namenode, "namenode");
    all.put(kafka, "kafka");
    all.put(controller, "kafka controller");
    all.put(http, "http");
    for (int i = 0; i < transfer.size(); i++) {
      all.put(transfer.get(i), "data transfer of server " + i);
      all.put(ipc.get(i), "IPC of server " + i);
    }
    return all;
  }

  /** Fails if anything listens at one of the ports. */
  public void checkFree() throws ClusterException {
    for (Map.Entry<Integer, String> port : all().entrySet()) {
      if (!FreePorts.isFree(port.getKey())) {
        throw new ClusterException(
            ("port %d (%s) is in use on 127.0.0.1: stop what listens there"
                    + " (ss -ltnp 'sport = :%d' shows it), or choose other ports with --port"
                    + " (--http-port for the dashboard); 0 means any free ones")
                .formatted(port.getKey(), port.getValue(), port.getKey()));
      }
    }
  }
}
