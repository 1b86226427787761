package io.ebbfs.verify.simulator;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The files whose close was acknowledged to a client. Their data must never be lost. */
final class AcknowledgedFiles {
  // The lengths of blocks, by file and block id.
  private final Map<Long, Map<Long, Long>> lengths = new TreeMap<>();
  private final Map<Long, Long> fileByBlock = new HashMap<>();

  void add(long fileId, Map<Long, Long> blockLengths) {
    lengths.put(fileId, blockLengths);
    blockLengths.keySet().forEach(id -> fileByBlock.put(id, fileId));
  }

  void remove(long fileId) {
    Map<Long, Long> blocks = lengths.remove(fileId);
    if (blocks != null) {
      fileByBlock.keySet().removeAll(blocks.keySet());
    }
  }

  Set<Long> files() {
    return lengths.keySet();
  }

  Set<Long> blocks() {
    return fileByBlock.keySet();
  }

  /** The file of a block, or null if the block belongs to no acknowledged file. */
  Long fileOf(long blockId) {
    return fileByBlock.get(blockId);
  }

  /** The length of a block of an acknowledged file. */
  long lengthOf(long fileId, long blockId) {
    return lengths.get(fileId).get(blockId);
  }
}
