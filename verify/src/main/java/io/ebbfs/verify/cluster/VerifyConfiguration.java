package io.ebbfs.verify.cluster;

import java.util.HashMap;
import java.util.Map;

/**
 * The configuration files of a cluster on which nothing happens unless a verification asks for it.
 */
public final class VerifyConfiguration {
  /**
   * A {@code namenode.yaml} with small blocks and fast clocks. Re-placement is on, as by default.
   */
  public static final String NAMENODE =
      "minBlockSize: 64KiB\ndeadAfter: 6s\nrepairDelay: 0s\nsafeModeGrace: 10s\norphanWait: 2s\n";

  /** The same for clusters whose servers leave and join: a silent server is dead sooner. */
  public static final String NAMENODE_FOR_JOINING =
      NAMENODE.replace("deadAfter: 6s", "deadAfter: 3s");

  private static final Map<String, String> FILES =
      Map.of(
          "policies.yaml",
          """
          policies:
            - name: nothing
              paths: [/nothing]
              family: rs
              writeColdAfter: 1000d
              readHot: {perFile: 5}
          """,
          "manager.yaml",
          "schedule:\n  evaluateEvery: 1h\n  sampleEvery: 1h\n",
          "namenode.yaml",
          "mendPlacements: false\n" + NAMENODE,
          "raid-node.yaml",
          "lease: 1s\npoll: 50ms\ncombineTimeout: 10s\n");

  private VerifyConfiguration() {}

  /**
   * All files by name.
   *
   * @param replacements files that replace the usual one of the same name, or are added
   */
  static Map<String, String> with(Map<String, String> replacements) {
    Map<String, String> files = new HashMap<>(FILES);
    files.putAll(replacements);
    return files;
  }
}
