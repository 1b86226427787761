package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Looks for blocks on disks by their files: the truth about what space is taken. */
final class StoredBlocks {
  private StoredBlocks() {}

  static boolean anyOn(List<Path> disks) {
    return disks.stream().anyMatch(StoredBlocks::anyOn);
  }

  /** Files may go while they are looked for. The search ends with the first block. */
  private static boolean anyOn(Path disk) {
    AtomicBoolean found = new AtomicBoolean();
    try {
      Files.walkFileTree(
          disk,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              String name = file.getFileName().toString();
              if (name.startsWith("blk_") && !name.endsWith(".meta")) {
                found.set(true);
                return FileVisitResult.TERMINATE;
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
    return found.get();
  }
}
