package io.ebbfs.manager.policy;

import io.ebbfs.manager.view.FileView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.stream.Collectors;

/** Divides files that are encoded now into batches, one for each decision. */
final class EncodingBatches {
  /** Enough stripes to pack well, and few enough for the namenode to pack at once. */
  static final int STRIPES_PER_DECISION = 40;

  private EncodingBatches() {}

  /**
   * Files of nearly equal block length come into the same batch, because short blocks pack well
   * with blocks of nearly their length. Each batch is completed with files that fit, so that it
   * fills whole units if all files together do.
   */
  static List<List<FileView>> divide(List<FileView> files, int unitBlocks) {
    List<FileView> rest =
        files.stream()
            .sorted(Comparator.comparingLong((FileView f) -> -f.blockLengthBytes(0)))
            .collect(Collectors.toCollection(LinkedList::new));
    List<List<FileView>> batches = new ArrayList<>();
    while (!rest.isEmpty()) {
      batches.add(takeBatch(rest, unitBlocks));
    }
    return batches;
  }

  private static List<FileView> takeBatch(List<FileView> rest, int unitBlocks) {
    List<FileView> batch = new ArrayList<>();
    int blocks = 0;
    for (Iterator<FileView> next = rest.iterator(); next.hasNext(); ) {
      FileView file = next.next();
      boolean room = blocks < unitBlocks * STRIPES_PER_DECISION;
      if (room || file.unencodedBlocks() <= Math.floorMod(-blocks, unitBlocks)) {
        batch.add(file);
        blocks += file.unencodedBlocks();
        next.remove();
      } else if (blocks % unitBlocks == 0) {
        break;
      }
    }
    return batch;
  }
}
