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
 * @param more further namenodes; none if the namenode has an embedded store
 * @param store where the nodes of a shared store are found; each takes the next two ports, too
 * @param web where each namenode answers over HTTP; none in clusters of older versions
 * @param webHdfs where HttpFS serves WebHDFS; 0 for a cluster without it
 */
public record Ports(
    int namenode,
    int kafka,
    int controller,
    int http,
    List<Integer> transfer,
    List<Integer> ipc,
    List<Integer> more,
    List<Integer> store,
    List<Integer> web,
    int webHdfs) {
  /** The default port of an HDFS namenode, so that hdfs://127.0.0.1 needs no port. */
  public static final int DEFAULT_NAMENODE = 8020;

  private static final int MORE_OFFSET = 10;
  private static final int WEB_HDFS_OFFSET = 4;
  private static final int WEB_OFFSET = 30;
  private static final int STORE_OFFSET = 40;
  private static final int SERVERS_OFFSET = 100;

  /** Three nodes survive the loss of one. */
  private static final int STORE_NODES = 3;

  private static final int MAX_PORT = 65535;

  public Ports {
    transfer = List.copyOf(transfer);
    ipc = List.copyOf(ipc);
    more = more == null ? List.of() : List.copyOf(more);
    store = store == null ? List.of() : List.copyOf(store);
    web = web == null ? List.of() : List.copyOf(web);
  }

  /**
   * Ports at fixed distances: the namenode at {@code base}, Kafka at +1, its controller at +2, HTTP
   * at +3 unless given, chunk server i at +100+2i (data transfer) and +101+2i (IPC). Of several
   * namenodes, the second is at +10, and the nodes of their store are at +40, +43 and +46.
   * Namenodes answer over HTTP at +30 and behind it. WebHDFS, if it is asked for, is at +4.
   */
  public static Ports fixed(int base, Integer http, int servers, int namenodes)
      throws ClusterException {
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
    List<Integer> more = new ArrayList<>();
    for (int i = 1; i < namenodes; i++) {
      more.add(base + MORE_OFFSET + i - 1);
    }
    List<Integer> store = new ArrayList<>();
    for (int i = 0; namenodes > 1 && i < STORE_NODES; i++) {
      store.add(base + STORE_OFFSET + 3 * i);
    }
    List<Integer> web = new ArrayList<>();
    for (int i = 0; i < namenodes; i++) {
      web.add(base + WEB_OFFSET + i);
    }
    Ports ports = new Ports(base, base + 1, base + 2, base + 3, transfer, ipc, more, store, web, 0);
    return http == null ? ports : ports.withHttp(http);
  }

  /** {@link #fixed} for one namenode. */
  public static Ports fixed(int base, Integer http, int servers) throws ClusterException {
    return fixed(base, http, servers, 1);
  }

  /** {@link #fixed}, or {@link #free} for a base of 0. */
  public static Ports choose(int base, Integer http, int servers, int namenodes)
      throws ClusterException {
    return base == 0 ? free(http, servers, namenodes) : fixed(base, http, servers, namenodes);
  }

  /** The same with another HTTP port; 0 for any free one. */
  public Ports withHttp(int port) throws ClusterException {
    int chosen = port == 0 ? FreePorts.find(1).get(0) : port;
    return new Ports(namenode, kafka, controller, chosen, transfer, ipc, more, store, web, webHdfs);
  }

  /** The same with a port of WebHDFS. */
  public Ports withWebHdfs() throws ClusterException {
    // Free ports often follow each other, too, but without the distance to those of the servers.
    boolean fixed = kafka == namenode + 1 && transfer.get(0) == namenode + SERVERS_OFFSET;
    int chosen = fixed ? namenode + WEB_HDFS_OFFSET : FreePorts.find(1).get(0);
    return new Ports(namenode, kafka, controller, http, transfer, ipc, more, store, web, chosen);
  }

  /** Ports of a cluster with one namenode that are free at this moment. */
  public static Ports free(Integer http, int servers) throws ClusterException {
    return free(http, servers, 1);
  }

  /** Ports that are free at this moment. */
  public static Ports free(Integer http, int servers, int namenodes) throws ClusterException {
    List<Integer> found = FreePorts.find(4 + 2 * servers + 2 * namenodes - 1);
    int last = 4 + 2 * servers + namenodes - 1;
    return new Ports(
        found.get(0),
        found.get(1),
        found.get(2),
        http == null || http == 0 ? found.get(3) : http,
        found.subList(4, 4 + servers),
        found.subList(4 + servers, 4 + 2 * servers),
        found.subList(4 + 2 * servers, last),
        namenodes > 1 ? FreePorts.findTriples(STORE_NODES) : List.of(),
        found.subList(last, found.size()),
        0);
  }

  /** Where a node of the store answers probes. */
  public int storeHttp(int index) {
    return store.get(index) + 2;
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
    for (int i = 0; i < more.size(); i++) {
      all.put(more.get(i), ProcessNames.namenode(i + 1));
    }
    if (webHdfs != 0) {
      all.put(webHdfs, "WebHDFS");
    }
    for (int i = 0; i < web.size(); i++) {
      all.put(web.get(i), "http of " + ProcessNames.namenode(i));
    }
    for (int i = 0; i < store.size(); i++) {
      all.put(store.get(i), ProcessNames.store(i));
      all.put(store.get(i) + 1, "transfer of " + ProcessNames.store(i));
      all.put(storeHttp(i), "http of " + ProcessNames.store(i));
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
