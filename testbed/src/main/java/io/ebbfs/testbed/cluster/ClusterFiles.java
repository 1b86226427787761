package io.ebbfs.testbed.cluster;

import io.ebbfs.protocol.rpc.SecretFile;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Makes and checks the directory of a cluster and fills it with configuration. */
final class ClusterFiles {
  /** A cluster does not start with less: metadata, logs and the broker need space. */
  static final long MIN_FREE_BYTES = 1L << 30;

  /** The folder below the examples with the files for clusters on one machine. */
  private static final String LOCAL = "local";

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

  /** The key that the services of a cluster share. */
  static Path serviceKey(Path directory) {
    return directory.resolve("service.key");
  }

  /** The token of API requests that change something. */
  static Path apiToken(Path directory) {
    return directory.resolve("api.token");
  }

  /** Makes the key and the token of a cluster that has none. */
  static void makeSecrets(Path directory) throws IOException {
    SecretFile.create(serviceKey(directory));
    SecretFile.create(apiToken(directory));
  }

  private static boolean isFree(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return false;
    }
    // A first start that was refused leaves these behind.
    List<String> ours = List.of("conf", "lock", "service.key", "api.token");
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

  /** Copies the examples. The files for local clusters take the place of the general ones. */
  private static void copyConf(Path examples, Path to) throws IOException {
    Files.createDirectories(to);
    Path local = examples.resolve(LOCAL);
    copyTree(examples, to, local);
    copyTree(local, to, null);
    Path logging = to.resolve("log4j.properties");
    if (!Files.exists(logging)) {
      Files.writeString(logging, logging());
    }
  }

  /** The default logging of every JVM of a cluster. */
  static String logging() throws IOException {
    try (InputStream in = ClusterFiles.class.getResourceAsStream("log4j.properties")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Copies a folder, if it exists, without one of the folders below it. */
  private static void copyTree(Path from, Path to, Path without) throws IOException {
    if (!Files.isDirectory(from)) {
      return;
    }
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (without == null || !file.startsWith(without)) {
          copy(file, to.resolve(from.relativize(file).toString()));
        }
      }
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
