package io.ebbfs.namenode.datanodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The names of the servers that an operator has excluded (HDFS: the file of {@code
 * dfs.hosts.exclude}). A name is a host name or an address, with or without {@code :port}, as a
 * server gave it when it registered; names are not looked up. Immutable.
 */
public record ExcludedServers(Set<String> names) {
  public static final ExcludedServers NONE = new ExcludedServers(Set.of());

  private static final String SETTING = "excludedServers";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]+(:[0-9]{1,5})?");

  public ExcludedServers {
    names = Set.copyOf(names);
  }

  /**
   * Reads a file of names between white space; a '#' begins a comment.
   *
   * @throws IOException with a message for the operator if the file cannot be read, or a word is
   *     not a name
   */
  public static ExcludedServers read(Path file) throws IOException {
    Set<String> names = new TreeSet<>();
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new IOException(
          "the file %s of excluded servers cannot be read (%s): create it, or change excludeFile in namenode.yaml"
              .formatted(file, e));
    }
    for (int i = 0; i < lines.size(); i++) {
      for (String word : lines.get(i).replaceFirst("#.*", "").strip().split("\\s+")) {
        if (!word.isEmpty() && !NAME.matcher(word).matches()) {
          throw new IOException(
              "%s, line %d: '%s' is no server: write host names or addresses, with or without :port"
                  .formatted(file, i + 1, word));
        }
        if (!word.isEmpty()) {
          names.add(word);
        }
      }
    }
    return new ExcludedServers(names);
  }

  /** Whether a word can be the name of a server. */
  static boolean isName(String word) {
    return NAME.matcher(word).matches();
  }

  /** Whether the list names a server. */
  boolean match(String hostName, String ipAddress, int transferPort) {
    return names.contains(hostName)
        || names.contains(ipAddress)
        || names.contains(hostName + ":" + transferPort)
        || names.contains(ipAddress + ":" + transferPort);
  }

  /** The names that fit none of the servers. */
  Set<String> unknown(Collection<ClusterView.Server> servers) {
    Set<String> left = new TreeSet<>(names);
    for (ClusterView.Server server : servers) {
      for (String name : List.of(server.hostName(), server.ipAddress())) {
        left.remove(name);
        left.remove(name + ":" + server.transferPort());
      }
    }
    return left;
  }

  /** The list as it was stored last. */
  static ExcludedServers stored(MetadataStore store) throws IOException {
    Key key = Tables.named(SETTING);
    return store.transact(
        key.partition(),
        transaction ->
            transaction
                .get(Tables.SETTING, key)
                .filter(row -> !row.getValue().isEmpty())
                .map(row -> new ExcludedServers(Set.of(row.getValue().split(" "))))
                .orElse(NONE));
  }

  /** Makes the list durable. */
  void store(MetadataStore store) throws IOException {
    Key key = Tables.named(SETTING);
    store.transact(
        key.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, key)));
          String value = String.join(" ", new TreeSet<>(names));
          transaction.put(Tables.SETTING, key, SettingRow.newBuilder().setValue(value).build());
          return null;
        });
  }
}
