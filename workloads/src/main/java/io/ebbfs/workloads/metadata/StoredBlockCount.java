package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/** Counts the blocks on disks by their files: the truth about what space is taken. */
final class StoredBlockCount {
  private StoredBlockCount() {}

  static long of(List<Path> disks) {
    return disks.stream().mapToLong(StoredBlockCount::of).sum();
  }

  /** Files may go while they are counted. */
  private static long of(Path disk) {
    long[] count = {0};
    try {
      Files.walkFileTree(
          disk,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              String name = file.getFileName().toString();
              if (name.startsWith("blk_") && !name.endsWith(".meta")) {
                count[0]++;
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException gone) {
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException gone) {
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return count[0];
  }
}
