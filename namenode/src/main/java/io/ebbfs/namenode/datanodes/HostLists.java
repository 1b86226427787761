package io.ebbfs.namenode.datanodes;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.DatanodeAdminProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the files of an operator say about servers (HDFS: the files of {@code dfs.hosts} and {@code
 * dfs.hosts.exclude}, or one file in JSON for both). Names are host names or addresses, with or
 * without {@code :port}. Immutable.
 *
 * @param included the only servers that may register; empty: any
 * @param excluded the servers to drain
 * @param hibernating the servers that hibernate, and until when, in milliseconds since the epoch
 */
public record HostLists(
    Set<String> included, ExcludedServers excluded, Map<String, Long> hibernating) {
  public static final HostLists NONE = of(ExcludedServers.NONE);

  private static final Logger LOG = LoggerFactory.getLogger(HostLists.class);
  private static final String SETTING = "listedServers";
  private static final int MOST_NAMES = 20;

  public HostLists {
    included = Set.copyOf(included);
    hibernating = Map.copyOf(hibernating);
  }

  /** A list of servers to drain alone. */
  public static HostLists of(ExcludedServers excluded) {
    return new HostLists(Set.of(), excluded, Map.of());
  }

  /**
   * Reads HDFS's file of hosts: a list in JSON of objects with {@code hostName}, and if wanted
   * {@code port}, {@code adminState} (NORMAL, DECOMMISSIONED or IN_MAINTENANCE) and {@code
   * maintenanceExpireTimeInMS}. If at least one state is NORMAL, servers that the file does not
   * name may not register.
   *
   * @throws IOException with a message for the operator
   */
  public static HostLists readJson(Path file) throws IOException {
    if (!Files.isReadable(file)) {
      throw new IOException(
          "the file %s of hosts cannot be read: create it, or change hostsFile in namenode.yaml"
              .formatted(file));
    }
    List<DatanodeAdminProperties> hosts;
    try {
      hosts = parse(Files.readString(file));
    } catch (IOException e) {
      throw new IOException(
          "the file %s of hosts is no list in JSON of objects with a hostName (%s): mend it; nothing was changed"
              .formatted(file, e.getMessage()),
          e);
    }
    Set<String> included = new TreeSet<>();
    Set<String> excluded = new TreeSet<>();
    Map<String, Long> hibernating = new TreeMap<>();
    boolean limits = false;
    for (DatanodeAdminProperties host : hosts) {
      String name = name(file, host);
      included.add(name);
      switch (host.getAdminState()) {
        case NORMAL -> limits = true;
        case DECOMMISSIONED -> excluded.add(name);
        case IN_MAINTENANCE -> hibernating.put(name, host.getMaintenanceExpireTimeInMS());
        default ->
            throw new IOException(
                "%s: the adminState %s of %s is one that a namenode finds out: write NORMAL, DECOMMISSIONED or IN_MAINTENANCE"
                    .formatted(file, host.getAdminState(), name));
      }
    }
    return new HostLists(limits ? included : Set.of(), new ExcludedServers(excluded), hibernating);
  }

  /** A list, or one object behind the other as older versions of HDFS had it. */
  private static List<DatanodeAdminProperties> parse(String json) throws IOException {
    ObjectMapper mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    if (json.strip().startsWith("[")) {
      return List.of(mapper.readValue(json, DatanodeAdminProperties[].class));
    }
    try (MappingIterator<DatanodeAdminProperties> all =
        mapper.readerFor(DatanodeAdminProperties.class).readValues(json)) {
      return all.readAll();
    }
  }

  private static String name(Path file, DatanodeAdminProperties host) throws IOException {
    String name = host.getHostName();
    if (name == null || !ExcludedServers.isName(name)) {
      throw new IOException(
          "%s: the hostName '%s' is none: write a host name or an address".formatted(file, name));
    }
    return host.getPort() == 0 ? name : name + ":" + host.getPort();
  }

  private static List<String> namesOf(String hostName, String ipAddress, int transferPort) {
    return List.of(
        hostName + ":" + transferPort, ipAddress + ":" + transferPort, hostName, ipAddress);
  }

  /** Whether a server may register. */
  boolean admits(String hostName, String ipAddress, int transferPort) {
    return included.isEmpty()
        || namesOf(hostName, ipAddress, transferPort).stream().anyMatch(included::contains);
  }

  /**
   * The lists with the addresses of the names beside the names, as HDFS compares servers. A server
   * may register under another name than the one that the operator writes. The names of excluded
   * servers stay as they are: a name that fits no server is reported.
   */
  public HostLists withAddresses() {
    Set<String> admitted = new TreeSet<>(included);
    included.forEach(name -> addressOf(name).ifPresent(admitted::add));
    Map<String, Long> until = new TreeMap<>(hibernating);
    hibernating.forEach(
        (name, millis) -> addressOf(name).ifPresent(address -> until.putIfAbsent(address, millis)));
    return new HostLists(admitted, excluded, until);
  }

  /** The address of a host, with the port that the name has; empty if nobody knows the host. */
  private static Optional<String> addressOf(String name) {
    String[] parts = name.split(":", 2);
    try {
      String address = InetAddress.getByName(parts[0]).getHostAddress();
      return Optional.of(parts.length == 2 ? address + ":" + parts[1] : address);
    } catch (UnknownHostException e) {
      LOG.warn("the address of the host {} in the lists of servers is not known", name);
      return Optional.empty();
    }
  }

  /**
   * Refuses lists that would shut out all live servers: nothing could be read any more.
   *
   * @throws IOException with a message for the operator
   */
  void requireSomeAdmitted(Collection<ClusterView.Server> live) throws IOException {
    List<String> shutOut =
        live.stream()
            .filter(s -> !admits(s.hostName(), s.ipAddress(), s.transferPort()))
            .map(ClusterView.Server::name)
            .toList();
    if (!shutOut.isEmpty() && shutOut.size() == live.size()) {
      throw new IOException(
          "the lists of servers name none of the %d live servers, such as %s: nothing was changed; write the names or addresses of servers as 'hdfs dfsadmin -report' shows them, or empty the list"
              .formatted(live.size(), shutOut.get(0)));
    }
    if (!shutOut.isEmpty()) {
      LOG.warn(
          "{} live servers are shut out from now on, because the lists do not name them: {}",
          shutOut.size(),
          shutOut.subList(0, Math.min(shutOut.size(), MOST_NAMES)));
    }
  }

  /** Until when a server hibernates; empty if the lists ask for no hibernation. */
  Optional<Long> hibernatesUntil(String hostName, String ipAddress, int transferPort) {
    return namesOf(hostName, ipAddress, transferPort).stream()
        .filter(hibernating::containsKey)
        .findFirst()
        .map(hibernating::get);
  }

  /** The lists as they were stored last. */
  static HostLists stored(MetadataStore store) throws IOException {
    Key key = Tables.named(SETTING);
    ExcludedServers excluded = ExcludedServers.stored(store);
    Optional<SettingRow> row =
        store.transact(key.partition(), transaction -> transaction.get(Tables.SETTING, key));
    Set<String> included = new TreeSet<>();
    Map<String, Long> hibernating = new TreeMap<>();
    for (String word : row.map(SettingRow::getValue).orElse("").split(" ")) {
      String[] parts = word.split("=");
      if (parts.length == 2) {
        hibernating.put(parts[0], Long.parseLong(parts[1]));
      } else if (!word.isEmpty()) {
        included.add(word);
      }
    }
    return new HostLists(included, excluded, hibernating);
  }

  /** Makes the lists durable. */
  void store(MetadataStore store) throws IOException {
    excluded.store(store);
    Set<String> words = new TreeSet<>(included);
    hibernating.forEach((name, until) -> words.add(name + "=" + until));
    Key key = Tables.named(SETTING);
    store.transact(
        key.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, key)));
          transaction.put(
              Tables.SETTING,
              key,
              SettingRow.newBuilder().setValue(String.join(" ", words)).build());
          return null;
        });
  }
}
