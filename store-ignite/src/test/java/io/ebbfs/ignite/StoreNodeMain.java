package io.ebbfs.ignite;

import java.nio.file.Path;
import java.util.List;

/** A store node as a process of its own: DATA PORT TRANSFER_PORT ALL COPIES. */
final class StoreNodeMain {
  static final String SERVES = "SERVES";

  private StoreNodeMain() {}

  public static void main(String[] arguments) throws Exception {
    List<String> all = List.of(arguments[3].split(","));
    int transferPort = Integer.parseInt(arguments[2]);
    int copies = Integer.parseInt(arguments[4]);
    StoreNodeConfig small =
        new StoreNodeConfig(
            Path.of(arguments[0]),
            128L << 20,
            256L << 20,
            transferPort,
            0,
            2_000,
            false,
            32,
            copies,
            4);
    StoreNode node =
        StoreNode.start(new StoreMember("127.0.0.1", Integer.parseInt(arguments[1]), all), small);
    Runtime.getRuntime().addShutdownHook(new Thread(node::close));
    Thread serving = new Thread(node::awaitServing, "serving");
    serving.setDaemon(true);
    serving.start();
    tellChanges(node);
  }

  /** Writes what changes, for {@link StoreNodes}. */
  private static void tellChanges(StoreNode node) throws InterruptedException {
    boolean serves = false;
    for (int copies = -1; ; Thread.sleep(20)) {
      if (!serves && node.isServing()) {
        serves = true;
        System.out.println(SERVES);
      }
      if (node.copies() != copies) {
        copies = node.copies();
        System.out.println("copies " + copies);
      }
    }
  }
}
