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

/** The configuration of the demo's cluster. What takes hours elsewhere takes seconds here. */
final class DemoConfiguration {
  static final int BLOCK_BYTES = 1 << 20;

  private DemoConfiguration() {}

  /** Most bytes on disk per byte of files. */
  static double bound(Family family) {
    return family == Family.PRODUCT ? 1.5 : 1.4;
  }

  /** Configuration files by name. Their policies encode nothing within the time of a demo. */
  static Map<String, String> files() {
    return Map.of(
        "policies.yaml", policies("1h"),
        "manager.yaml", resource("manager.yaml"),
        "namenode.yaml", resource("namenode.yaml"));
  }

  /** Edits the policies of a running cluster, so that a file is write-cold after seconds. */
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
