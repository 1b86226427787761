package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.manager.bound.PackingForecast;
import io.ebbfs.manager.view.FileView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Chooses which of the files that go into one code are encoded now, so that their blocks fill
 * stripes. The other files wait for further blocks, and the reason is noted.
 */
final class StripeFiller {
  /** How much more than the code's own overhead partly filled fast stripes may store. */
  private static final double FAST_SLACK = 1.05;

  private final ErasureCode code;
  private final int unitBlocks;
  private final boolean fast;
  private final EncodingAge age;
  private final Map<Long, String> waiting;

  /**
   * @param unitBlocks data blocks that fill one stripe, or all fast stripes that merge into one
   * @param fast whether the code is the fast one of a family
   */
  StripeFiller(
      ErasureCode code, int unitBlocks, boolean fast, EncodingAge age, Map<Long, String> waiting) {
    this.code = code;
    this.unitBlocks = unitBlocks;
    this.fast = fast;
    this.age = age;
    this.waiting = waiting;
  }

  /**
   * Files gather first: none is chosen while all are young and their blocks fill few stripes. Then
   * the files whose blocks fill whole units are chosen. Once a file is overdue, all files are
   * chosen if that is worth it: a compact or single code must store less than the replicas, and the
   * fast code must leave next to nothing unfilled.
   */
  List<FileView> choose(List<FileView> files) {
    List<FileView> sorted = mostBlocksFirst(files);
    int blocks = sorted.stream().mapToInt(FileView::unencodedBlocks).sum();
    if (blocks < manyBlocks() && sorted.stream().noneMatch(age::hasGathered)) {
      explain(sorted, gathering(blocks));
      return List.of();
    }
    boolean overdue = sorted.stream().anyMatch(age::isOverdue);
    List<FileView> filling = new ArrayList<>();
    List<FileView> rest = new ArrayList<>();
    int taken = 0;
    for (FileView file : sorted) {
      if (taken + file.unencodedBlocks() <= blocks / unitBlocks * unitBlocks) {
        filling.add(file);
        taken += file.unencodedBlocks();
      } else {
        rest.add(file);
      }
    }
    boolean fillsUnits = taken % unitBlocks == 0;
    if (rest.isEmpty() && fillsUnits || overdue && allAreWorth(sorted, filling, rest)) {
      return sorted;
    }
    String why = overdue ? tooFew(blocks) : filled(blocks);
    if (fillsUnits || overdue && !fast && storesLess(filling)) {
      explain(rest, why);
      return filling;
    }
    explain(sorted, why);
    return List.of();
  }

  private static List<FileView> mostBlocksFirst(List<FileView> files) {
    return files.stream()
        .sorted(
            Comparator.comparingInt(FileView::unencodedBlocks)
                .thenComparing(FileView::lengthBytes)
                .reversed()
                .thenComparing(FileView::id))
        .toList();
  }

  private int manyBlocks() {
    return unitBlocks * EncodingBatches.STRIPES_PER_DECISION;
  }

  private boolean allAreWorth(List<FileView> all, List<FileView> filling, List<FileView> rest) {
    PackingForecast packing = PackingForecast.of(all, code);
    return fast
        ? packing.storedBytes() <= packing.dataBytes() * code.overhead() * FAST_SLACK
        : packing.storedBytes()
            < PackingForecast.of(filling, code).storedBytes() + replicaBytes(rest);
  }

  private boolean storesLess(List<FileView> files) {
    return PackingForecast.of(files, code).storedBytes() < replicaBytes(files);
  }

  private static long replicaBytes(List<FileView> files) {
    return files.stream().mapToLong(FileView::replicatedStoredBytes).sum();
  }

  private String gathering(int blocks) {
    return "%d of %d blocks are there that pack well into %s; encoded after %s of age"
        .formatted(blocks, manyBlocks(), code.name(), age.showGathered());
  }

  private String filled(int blocks) {
    return "%d of %d blocks are there to fill %s; encoded partially filled after %s of age"
        .formatted(blocks % unitBlocks, unitBlocks, code.name(), age.showOverdue());
  }

  private String tooFew(int blocks) {
    return "too few blocks (%d of %d) for a stripe of %s that stores less than the replicas; waits for more files"
        .formatted(blocks % unitBlocks, unitBlocks, code.name());
  }

  private void explain(List<FileView> files, String why) {
    files.forEach(file -> waiting.put(file.id(), why));
  }
}
