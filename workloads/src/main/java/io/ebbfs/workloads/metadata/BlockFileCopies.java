package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/**
 * Copies the one block on the disk of a server that does not run, data file and meta file, under
 * other ids. Neither file holds the id of its block. Not thread-safe.
 */
final class BlockFileCopies implements NewBlocks {
  private static final String META = ".meta";

  private final Path finalized;
  private final LongFunction<String> subdirectory;
  private final byte[] data;
  private final byte[] meta;
  private final Set<Path> made = new HashSet<>();

  /**
   * @param finalized the directory of the finished blocks
   * @param subdirectory the path below it in which a block with an id lies
   */
  BlockFileCopies(Path finalized, LongFunction<String> subdirectory) throws IOException {
    this.finalized = finalized;
    this.subdirectory = subdirectory;
    List<Path> files;
    try (Stream<Path> found = Files.walk(finalized)) {
      files = found.filter(Files::isRegularFile).sorted().toList();
    }
    if (files.size() != 2 || !files.get(1).toString().endsWith(META)) {
      throw new IOException(
          "%s is to hold one block in two files, and holds %s".formatted(finalized, files));
    }
    this.data = Files.readAllBytes(files.get(0));
    this.meta = Files.readAllBytes(files.get(1));
  }

  @Override
  public void add(long blockId, long generationStamp) throws IOException {
    Path folder = finalized.resolve(subdirectory.apply(blockId));
    if (made.add(folder)) {
      Files.createDirectories(folder);
    }
    String name = "blk_" + blockId;
    Files.write(folder.resolve(name), data);
    Files.write(folder.resolve(name + "_" + generationStamp + META), meta);
  }
}
