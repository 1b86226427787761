package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.MissingBlock;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.CorruptFileBlocks;

/**
 * Lists the files of blocks without a live replica, from what the namenode has noticed so far: no
 * file is visited to answer. A file comes once for each such block, as in HDFS. The cookie of a
 * page is the id of the last block that was looked at. Thread-safe.
 */
public final class CorruptFileListing {
  /** As many as HDFS tells at a time. */
  static final int PAGE = 100;

  /** Blocks that are looked at together. The page may be short, because clients end at none. */
  private static final int LOOKED_AT = 1_000;

  private final MetadataStore store;
  private final BlockService blocks;

  public CorruptFileListing(MetadataStore store, BlockService blocks) {
    this.store = store;
    this.blocks = blocks;
  }

  /**
   * A page of the files at a path and below it.
   *
   * @param cookie the cookie of the page before; null for the first page
   */
  public CorruptFileBlocks list(Caller caller, String path, String cookie) throws IOException {
    PermissionChecker.checkSuperuser(caller, "listCorruptFileBlocks");
    FsPath below = FsPath.parse(path);
    long reached = blockId(cookie);
    List<String> files = new ArrayList<>();
    List<MissingBlock> missing;
    do {
      missing = blocks.missingAfter(reached, LOOKED_AT);
      for (MissingBlock block : missing) {
        if (files.size() == PAGE) {
          break;
        }
        reached = block.blockId();
        pathOf(block).filter(below::isAtOrAbove).ifPresent(it -> files.add(it.toString()));
      }
    } while (files.isEmpty() && missing.size() == LOOKED_AT);
    return new CorruptFileBlocks(files.toArray(String[]::new), Long.toString(reached));
  }

  private static long blockId(String cookie) throws IOException {
    try {
      return cookie == null || cookie.isEmpty() ? 0 : Long.parseLong(cookie);
    } catch (NumberFormatException e) {
      throw new IOException(
          "'%s' is no cookie of listCorruptFileBlocks: begin without a cookie".formatted(cookie));
    }
  }

  /** Empty if the block has a replica again, or is deleted. */
  private Optional<FsPath> pathOf(MissingBlock block) throws IOException {
    return block.fileId().isEmpty()
        ? Optional.empty()
        : store.transact(
            block.fileId().getAsLong(),
            Durability.RELAXED,
            transaction -> PathResolver.pathOf(transaction, block.fileId().getAsLong()));
  }
}
