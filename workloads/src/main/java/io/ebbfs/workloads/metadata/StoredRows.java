package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The size of the files of a namenode's store. */
final class StoredRows {
  private StoredRows() {}

  static long bytes(Path data) throws IOException {
    try (Stream<Path> files = Files.walk(data)) {
      return files.filter(Files::isRegularFile).mapToLong(StoredRows::size).sum();
    }
  }

  /** Compactions remove files at any time. */
  private static long size(Path file) {
    try {
      return Files.exists(file) ? Files.size(file) : 0;
    } catch (java.nio.file.NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
