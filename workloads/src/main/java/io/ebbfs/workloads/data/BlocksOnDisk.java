package io.ebbfs.workloads.data;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

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

  /** What a server deletes meanwhile is left out. */
  private static List<Path> below(Path disk) throws IOException {
    List<Path> blocks = new ArrayList<>();
    Files.walkFileTree(
        disk,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.getFileName().toString().startsWith("blk_")) {
              blocks.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure)
              throws IOException {
            if (failure instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw failure;
          }
        });
    return blocks;
  }
}
