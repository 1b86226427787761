package io.ebbfs.testbed.process;

/** The names of a cluster's processes, in logs, in {@code cluster.json} and on command lines. */
public final class ProcessNames {
  public static final String NAMENODE = "namenode";
  public static final String KAFKA = "kafka";
  public static final String CONTROL = "control";
  public static final String HTTPFS = "httpfs";

  private static final String SERVER = "server-";
  private static final String STORE = "store-";

  private ProcessNames() {}

  /** The name of a namenode: {@code namenode}, {@code namenode-1}, {@code namenode-2}. */
  public static String namenode(int index) {
    return index == 0 ? NAMENODE : NAMENODE + "-" + index;
  }

  /** The name of a node of the namenodes' store: {@code store-0}. */
  public static String store(int index) {
    return STORE + index;
  }

  /** The number at the end of a name: 2 for {@code namenode-2}, 0 for a name without one. */
  public static int indexOf(String process) {
    int dash = process.lastIndexOf('-');
    return dash < 0 ? 0 : Integer.parseInt(process.substring(dash + 1));
  }

  public static boolean isNamenode(String process) {
    return process.startsWith(NAMENODE);
  }

  public static boolean isStore(String process) {
    return process.startsWith(STORE);
  }

  /** The name of a chunk server: {@code server-07}. */
  public static String server(int index) {
    return (SERVER + "%02d").formatted(index);
  }

  /** The number of a chunk server; -1 for a process that is none. */
  public static int serverIndex(String process) {
    return process.startsWith(SERVER) ? Integer.parseInt(process.substring(SERVER.length())) : -1;
  }
}
