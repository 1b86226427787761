package io.ebbfs.workloads.data;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files of blocks on disks. EbbFS and HDFS name them alike. */
final class BlocksOnDisk {
  private BlocksOnDisk() {}

  /** The bytes of blocks, without checksums. */
  static long bytes(List<Path> disks) throws IOException {
    long sum = 0;
    for (Path disk : disks) {
      for (Path file : below(disk)) {
        sum += file.toString().endsWith(".meta") ? 0 : size(file);
      }
    }
    return sum;
  }

  private static long size(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0; // its server has just deleted it
    }
  }

  /** Deletes all blocks of a disk. Its server must not run. */
  static void delete(Path disk) throws IOException {
    for (Path file : below(disk)) {
      Files.delete(file);
    }
  }

  private static List<Path> below(Path disk) throws IOException {
    try (Stream<Path> files = Files.walk(disk)) {
      return files.filter(file -> file.getFileName().toString().startsWith("blk_")).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
