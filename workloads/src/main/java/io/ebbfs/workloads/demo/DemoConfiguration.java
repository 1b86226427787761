package io.ebbfs.workloads.demo;

import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Set;

/**
 * The configuration that the demo's cluster runs with: everything that takes hours takes seconds.
 */
final class DemoConfiguration {
  /** The codes that cold data ebbs into. */
  static final Set<String> COMPACT_CODES = Set.of("PC(6x5)", "LRC(12,2,2)");

  private DemoConfiguration() {}

  /** Most bytes on disk per byte of files. */
  static double bound(Family family) {
    return family == Family.PRODUCT ? 1.5 : 1.4;
  }

  /** Configuration files by name, in place of the examples. Nothing is encoded yet. */
  static Map<String, String> files() {
    return Map.of(
        "policies.yaml", policies("1h"),
        "manager.yaml", resource("manager.yaml"),
        "namenode.yaml", resource("namenode.yaml"));
  }

  /** Edits the policies of a running cluster: files are write-cold after seconds from now on. */
  static void letAdapt(Path clusterDirectory) throws IOException {
    Path file = clusterDirectory.resolve("conf/policies.yaml");
    Path next = file.resolveSibling("policies.yaml.next");
    Files.writeString(next, policies("5s"));
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private static String policies(String writeColdAfter) {
    return resource("policies.yaml").replace("WRITE_COLD_AFTER", writeColdAfter);
  }

  private static String resource(String name) {
    try (InputStream in = DemoConfiguration.class.getResourceAsStream("conf/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
