package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hdfs.AddBlockFlag;

/**
 * What a writer asks about the places of a block. Each wish is granted as far as there are other
 * servers with room, and a block stays on two racks. Immutable.
 *
 * @param favored servers that are to get the replicas, as "host:port" of their data transfer, or
 *     "host" for any port
 * @param flags NO_LOCAL_WRITE: no server on the writer's machine; NO_LOCAL_RACK: none in its rack;
 *     IGNORE_CLIENT_LOCALITY: the writer's machine is as good as any other
 */
public record WriterWishes(List<String> favored, Set<AddBlockFlag> flags) {
  public static final WriterWishes NONE = new WriterWishes(List.of(), Set.of());

  /** A client that names more than there are replicas wants one after the other to be tried. */
  private static final int MOST_FAVORED = 64;

  public static WriterWishes of(Collection<String> favored, Set<AddBlockFlag> flags) {
    return favored.isEmpty() && flags.isEmpty()
        ? NONE
        : new WriterWishes(favored.stream().limit(MOST_FAVORED).toList(), flags);
  }

  /** Whether the first replica is to be on the writer's machine. */
  boolean isLocalFirst() {
    return flags.isEmpty();
  }

  /** The servers to be avoided, of those on the writer's machine and all others. */
  Set<String> avoided(List<Server> onMachine, List<Server> all) {
    Set<String> avoided = new HashSet<>();
    if (flags.contains(AddBlockFlag.NO_LOCAL_WRITE) || flags.contains(AddBlockFlag.NO_LOCAL_RACK)) {
      onMachine.forEach(server -> avoided.add(server.uuid()));
    }
    if (flags.contains(AddBlockFlag.NO_LOCAL_RACK)) {
      Set<String> racks = new HashSet<>();
      onMachine.forEach(server -> racks.add(server.rack()));
      all.stream()
          .filter(server -> racks.contains(server.rack()))
          .forEach(server -> avoided.add(server.uuid()));
    }
    return avoided;
  }

  /** The machine of a favored server, by its name or address. */
  static String machine(String favored) {
    int colon = favored.lastIndexOf(':');
    return colon < 0 ? favored : favored.substring(0, colon);
  }

  /** Whether a server of that machine has the port of a favored server. */
  static boolean hasPort(Server server, String favored) {
    String port = favored.substring(favored.lastIndexOf(':') + 1);
    return favored.indexOf(':') < 0
        || port.equals("0")
        || port.equals(String.valueOf(server.transferPort()));
  }
}
