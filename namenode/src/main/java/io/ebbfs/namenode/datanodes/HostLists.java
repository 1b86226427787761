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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.DatanodeAdminProperties;

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

  private static final String SETTING = "listedServers";

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
   * maintenanceExpireTimeInMS}. Servers that it does not name may not register.
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
    for (DatanodeAdminProperties host : hosts) {
      String name = name(file, host);
      included.add(name);
      switch (host.getAdminState()) {
        case NORMAL -> {}
        case DECOMMISSIONED -> excluded.add(name);
        case IN_MAINTENANCE -> hibernating.put(name, host.getMaintenanceExpireTimeInMS());
        default ->
            throw new IOException(
                "%s: the adminState %s of %s is one that a namenode finds out: write NORMAL, DECOMMISSIONED or IN_MAINTENANCE"
                    .formatted(file, host.getAdminState(), name));
      }
    }
    return new HostLists(included, new ExcludedServers(excluded), hibernating);
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
