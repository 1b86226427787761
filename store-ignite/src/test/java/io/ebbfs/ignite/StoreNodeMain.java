package io.ebbfs.ignite;

import java.nio.file.Path;
import java.util.List;

/** A store node as a process of its own: NAME DATA PORT TRANSFER_PORT PEERS. */
final class StoreNodeMain {
  static final String SERVES = "SERVES";

  private StoreNodeMain() {}

  public static void main(String[] arguments) throws Exception {
    StoreNode node =
        StoreNode.start(
            StoreNodeConfig.of(
                    arguments[0],
                    Path.of(arguments[1]),
                    "127.0.0.1",
                    Integer.parseInt(arguments[2]),
                    Integer.parseInt(arguments[3]),
                    List.of(arguments[4].split(",")))
                .small());
    Runtime.getRuntime().addShutdownHook(new Thread(node::close));
    if (node.awaitServing()) {
      System.out.println(SERVES);
    }
    for (int copies = -1; ; Thread.sleep(20)) {
      if (node.copies() != copies) {
        copies = node.copies();
        System.out.println("copies " + copies);
      }
    }
  }
}
