package io.ebbfs.workloads.metadata;

import java.util.List;

/**
 * The flags of the JVMs of both namenodes: the same for both. The young generation is an eighth of
 * the heap, as guides to running a NameNode recommend; the default, a third of what the heap has
 * grown to, makes a collection every 200 ms.
 */
final class NamenodeJvm {
  private NamenodeJvm() {}

  static List<String> flags(int heapMebibytes) {
    return List.of(
        "-Xmx" + heapMebibytes + "m",
        "-Xmn" + heapMebibytes / 8 + "m",
        "-Xss512k",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData");
  }
}
