package io.ebbfs.workloads.metadata;

import java.io.IOException;

/** Hears of each block that the copy of a file gets. */
@FunctionalInterface
public interface NewBlocks {
  /** For files without blocks. */
  NewBlocks NONE =
      (blockId, generationStamp) -> {
        throw new IllegalStateException(
            "block %d was made, and the files are to have none".formatted(blockId));
      };

  void add(long blockId, long generationStamp) throws IOException;
}
