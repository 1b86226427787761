package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.nio.file.Path;

/** Copies files in the store of a namenode of EbbFS that does not run. */
@FunctionalInterface
public interface StoreCopies {
  /**
   * Makes all files of the tree but the first, which is there.
   *
   * @param data the directory of the namenode's metadata
   * @return bytes of the rows of all files of the tree, keys and values, before any compression
   */
  long copy(Path data, CopiedTree tree, NewBlocks blocks) throws IOException;
}
