package io.ebbfs.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The metrics that processes export: the sources hold the name of each as a string. */
final class ExportedMetrics {
  private static final Path HOME = Path.of("..");
  private static final List<String> SOURCES =
      List.of(
          "adaptive-manager/src/main",
          "chunk-cluster/src",
          "common/src/main",
          "namenode/src/main",
          "raid-node/src/main",
          "store-ignite/src/main");
  private static final Pattern STRING = Pattern.compile("\"(ebbfs_[a-z0-9_]+)\"");
  private static final Pattern WORD = Pattern.compile("\\b(ebbfs_[a-z0-9_]+)\\b");

  private ExportedMetrics() {}

  static Set<String> names() throws IOException {
    Set<String> names = new TreeSet<>();
    for (String source : SOURCES) {
      try (Stream<Path> files = Files.walk(HOME.resolve(source))) {
        for (Path file : files.filter(f -> f.toString().matches(".*\\.(java|cc)")).toList()) {
          names.addAll(all(STRING, Files.readString(file)));
        }
      }
    }
    assertThat(names).hasSizeGreaterThan(50);
    return names;
  }

  /** The metrics that a text names. */
  static List<String> namedIn(String text) {
    return all(WORD, text);
  }

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1)).toList();
  }
}
