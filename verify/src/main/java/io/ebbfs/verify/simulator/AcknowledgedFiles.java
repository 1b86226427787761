package io.ebbfs.verify.simulator;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What clients were promised: every byte of a closed file, and of a file that is open for writing
 * every byte that all servers of its pipeline have acknowledged. These bytes must never be lost.
 */
final class AcknowledgedFiles {
  // The lengths of blocks, by file and block id.
  private final Map<Long, Map<Long, Long>> closed = new TreeMap<>();
  // The least lengths of blocks, by file and block id.
  private final Map<Long, Map<Long, Long>> open = new TreeMap<>();
  private final Map<Long, Long> fileByBlock = new HashMap<>();

  /** A client opens a new file, or a closed one to append to it. */
  void open(long fileId) {
    Map<Long, Long> lengths = closed.remove(fileId);
    open.putIfAbsent(fileId, lengths == null ? new TreeMap<>() : new TreeMap<>(lengths));
  }

  /** All servers of the pipeline have acknowledged the first bytes of a block of an open file. */
  void promise(long fileId, long blockId, long lengthBytes) {
    if (isOpen(fileId)) {
      open.get(fileId).merge(blockId, lengthBytes, Math::max);
      fileByBlock.put(blockId, fileId);
    }
  }

  /**
   * A power failure has cut a replica of a block that is being written. As in HDFS, a block
   * recovery may choose the shortest replica, so nothing more is promised.
   */
  void weaken(long blockId, long lengthBytes) {
    Long file = fileByBlock.get(blockId);
    if (file != null && isOpen(file)) {
      open.get(file).merge(blockId, lengthBytes, Math::min);
    }
  }

  /** An open file is to have these lengths of its blocks at most; it may lose all other blocks. */
  void cut(long fileId, Map<Long, Long> most) {
    Map<Long, Long> lengths = open.get(fileId);
    lengths.keySet().stream().filter(id -> !most.containsKey(id)).forEach(fileByBlock::remove);
    lengths.keySet().retainAll(most.keySet());
    lengths.replaceAll((id, length) -> Math.min(length, most.get(id)));
  }

  /** A block of a closed file belongs to another closed file now. A file without blocks is gone. */
  void move(long blockId, long toFileId) {
    long from = fileByBlock.get(blockId);
    Map<Long, Long> lengths = closed.getOrDefault(from, new TreeMap<>());
    Long length = lengths.remove(blockId);
    if (lengths.isEmpty()) {
      remove(from);
    }
    if (length == null || !closed.containsKey(toFileId)) {
      fileByBlock.remove(blockId);
      return;
    }
    closed.get(toFileId).put(blockId, length);
    fileByBlock.put(blockId, toFileId);
  }

  /** The file is closed, with these lengths of its blocks. */
  void close(long fileId, Map<Long, Long> blockLengths) {
    remove(fileId);
    closed.put(fileId, blockLengths);
    blockLengths.keySet().forEach(id -> fileByBlock.put(id, fileId));
  }

  void remove(long fileId) {
    for (Map<Long, Map<Long, Long>> files : List.of(closed, open)) {
      Map<Long, Long> blocks = files.remove(fileId);
      if (blocks != null) {
        fileByBlock.keySet().removeAll(blocks.keySet());
      }
    }
  }

  /** The files that are closed. */
  Set<Long> files() {
    return closed.keySet();
  }

  boolean isOpen(long fileId) {
    return open.containsKey(fileId);
  }

  /** The open files. */
  Set<Long> openFiles() {
    return open.keySet();
  }

  /** The bytes that an open file must have at least, by block. */
  Map<Long, Long> promisedBy(long openFileId) {
    return open.get(openFileId);
  }

  /** The lengths of the blocks of a closed file; empty if the file is not known or open. */
  Map<Long, Long> lengthsOf(long closedFileId) {
    return closed.getOrDefault(closedFileId, Map.of());
  }

  /** The blocks with promised bytes. */
  Set<Long> blocks() {
    return fileByBlock.keySet();
  }

  /** The file of a block, or null if no byte of the block was promised. */
  Long fileOf(long blockId) {
    return fileByBlock.get(blockId);
  }

  /** Whether a replica of this length has all bytes that were promised, and no more if closed. */
  boolean isWhole(long blockId, long lengthBytes) {
    long file = fileByBlock.get(blockId);
    Map<Long, Long> lengths = open.get(file);
    return lengths != null
        ? lengthBytes >= lengths.get(blockId)
        : lengthBytes == closed.get(file).get(blockId);
  }
}
