package io.ebbfs.workloads.metadata;

import java.util.List;

/** The flags of the JVMs of both namenodes: the same for both. */
final class NamenodeJvm {
  private NamenodeJvm() {}

  static List<String> flags(int heapMebibytes) {
    return List.of(
        "-Xmx" + heapMebibytes + "m",
        "-Xss512k",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData");
  }
}
