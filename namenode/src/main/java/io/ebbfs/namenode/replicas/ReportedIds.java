package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.store.IdGenerator;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the sequences of block ids and generation stamps past every id that a chunk server reports.
 * A higher one than was ever given out shows that the store is older than the block: without the
 * skip, another block would get the same id. Thread-safe.
 */
final class ReportedIds {
  private static final Logger LOG = LoggerFactory.getLogger(ReportedIds.class);

  /** Ids left out behind a reported one: servers that have not reported yet may use them. */
  private static final long MARGIN = 1_000_000;

  /** Higher ids are not from a sequence. */
  private static final long HIGHEST = 1L << 60;

  private final IdGenerator blocks;
  private final IdGenerator generationStamps;

  ReportedIds(IdGenerator blocks, IdGenerator generationStamps) {
    this.blocks = blocks;
    this.generationStamps = generationStamps;
  }

  void see(List<ReportedReplica> reports) throws IOException {
    long blockId = 0;
    long generationStamp = 0;
    for (ReportedReplica report : reports) {
      if (report.blockId() < HIGHEST && report.generationStamp() < HIGHEST) {
        blockId = Math.max(blockId, report.blockId());
        generationStamp = Math.max(generationStamp, report.generationStamp());
      }
    }
    skip(blocks, "block id", blockId);
    skip(generationStamps, "generation stamp", generationStamp);
  }

  private static void skip(IdGenerator sequence, String what, long reported) throws IOException {
    if (reported > 0 && sequence.skipPast(reported, MARGIN)) {
      LOG.warn(
          "a chunk server reports {} {}, which this store has never given out: the store is older"
              + " than the block. The sequence goes on {} behind it",
          what,
          reported,
          MARGIN);
    }
  }
}
