package io.ebbfs.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The directory of a cluster: made, checked, filled with configuration. */
final class ClusterFiles {
  /** Below this a cluster is not started: metadata, logs and the broker need room to live. */
  static final long MIN_FREE_BYTES = 1L << 30;

  private ClusterFiles() {}

  /** Makes a new cluster's directory, which must be empty or absent, and its configuration. */
  static void create(ClusterSpec spec, Path examples) throws ClusterException {
    Path directory = spec.directory();
    try {
      if (Files.exists(directory) && !isFree(directory)) {
        throw new ClusterException(
            "%s is not empty and holds no cluster: choose an empty or a new directory with --dir"
                .formatted(directory));
      }
      Files.createDirectories(directory);
      checkSpace(directory);
      copyConf(examples, directory.resolve("conf"));
      for (Map.Entry<String, String> file : spec.confFiles().entrySet()) {
        Path target = directory.resolve("conf").resolve(file.getKey());
        Files.createDirectories(target.getParent());
        Files.writeString(target, file.getValue());
      }
    } catch (IOException e) {
      throw new ClusterException(
          "%s cannot be made a cluster's directory: %s; choose one that you may write with --dir"
              .formatted(directory, e),
          e);
    }
  }

  private static boolean isFree(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return false;
    }
    // What a first start that was refused leaves behind.
    List<String> ours = List.of("conf", "lock");
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.allMatch(entry -> ours.contains(entry.getFileName().toString()));
    }
  }

  static void checkSpace(Path directory) throws ClusterException {
    try {
      long free = Files.getFileStore(directory).getUsableSpace();
      if (free < MIN_FREE_BYTES) {
        throw new ClusterException(
            "%s has %d MiB free, a cluster needs at least %d MiB: free some, or choose a directory"
                    .formatted(directory, free >> 20, MIN_FREE_BYTES >> 20)
                + " on another disk with --dir");
      }
    } catch (IOException e) {
      throw new ClusterException("%s cannot be read: %s".formatted(directory, e), e);
    }
  }

  /** Deletes a cluster's directory and all below it. */
  static void delete(Path directory) throws ClusterException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new ClusterException("%s cannot be deleted: %s".formatted(directory, e), e);
    }
  }

  private static void copyConf(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    if (Files.isDirectory(from)) {
      try (Stream<Path> files = Files.walk(from)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          copy(file, to.resolve(from.relativize(file).toString()));
        }
      }
    }
    Path logging = to.resolve("log4j.properties");
    if (!Files.exists(logging)) {
      Files.writeString(logging, logging());
    }
  }

  /** How every JVM of a cluster logs, unless its operator says otherwise. */
  static String logging() throws IOException {
    try (InputStream in = ClusterFiles.class.getResourceAsStream("log4j.properties")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    if (Files.isDirectory(from)) {
      Files.createDirectories(to);
    } else {
      Files.copy(from, to, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }
  }
}
