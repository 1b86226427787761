package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.ReadCounts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Random files and stripes of a view, in batches that have nothing in common. What is computed of
 * each batch can be added up for an estimate of the whole, and differs between the batches as the
 * estimate would differ between samples.
 *
 * <p>A file with blocks that are not encoded is drawn by its id. A stripe is drawn together with
 * the stripes that it may merge with. All are drawn with the same probability.
 */
public final class ViewSample {
  /** Rows that are looked at between two looks whether the sample is still wanted. */
  private static final int PAGE = 5_000;

  /**
   * A part of the sample.
   *
   * @param files that were drawn by their ids
   * @param stripes by id
   */
  public record Batch(List<FileView> files, Map<Long, StripeView> stripes) {}

  private final NamespaceView view;
  private final double share;
  private final List<Batch> batches = new ArrayList<>();

  /** Blocks of stripes in memory, parities included, for each file that may be in memory. */
  public static final long BLOCKS_PER_FILE = 10;

  /**
   * The share of all files and stripes to draw, so that neither the files nor the blocks of the
   * stripes are too many for the memory. At most 1.
   *
   * @param mostFiles that are in memory at once
   */
  public static double share(NamespaceView view, long mostFiles) {
    long blocks = view.sums().values().stream().mapToLong(PolicySums::positions).sum();
    return share(mostFiles, view.files(), blocks);
  }

  static double share(long mostFiles, long files, long blocks) {
    double ofFiles = (double) mostFiles / Math.max(1, files);
    double ofBlocks = (double) BLOCKS_PER_FILE * mostFiles / Math.max(1, blocks);
    return Math.min(1, Math.min(ofFiles, ofBlocks));
  }

  private ViewSample(NamespaceView view, double share, int batchCount) {
    this.view = view;
    this.share = share;
    for (int i = 0; i < batchCount; i++) {
      batches.add(new Batch(new ArrayList<>(), new HashMap<>()));
    }
  }

  /**
   * Draws a sample, and looks at the ids of all files for that. Readers and writers of the view
   * have their turn after some thousand rows.
   *
   * @param share of all files and stripes that is drawn, 1 for all
   * @param progress hears how many rows were looked at
   * @param stop whether the sample is not wanted any more; the batches are not whole then
   */
  public static List<Batch> draw(
      NamespaceView view,
      double share,
      int batchCount,
      LongConsumer progress,
      BooleanSupplier stop) {
    ViewSample sample = new ViewSample(view, share, batchCount);
    long looked = 0;
    long after = -1;
    do {
      after = view.eachStripe(after, PAGE, sample::add);
    } while (after >= 0 && !stop.getAsBoolean());
    do {
      after = view.eachFile(after, PAGE, id -> sample.batchOf(id) >= 0, sample::add);
      looked += PAGE;
      progress.accept(looked);
    } while (after >= 0 && !stop.getAsBoolean());
    return sample.batches;
  }

  /** The batch that something is drawn into; -1 if it is not drawn. */
  private int batchOf(long id) {
    double position = (mix(id) >>> 11) * 0x1.0p-53;
    return position < share ? (int) (position / share * batches.size()) : -1;
  }

  /** The finalizer of SplitMix64: ids that follow each other land anywhere. */
  private static long mix(long id) {
    long z = id * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  private void add(StripeView stripe) {
    int batch = batchOf(stripe.groupId() != 0 ? stripe.groupId() : stripe.id());
    if (batch >= 0) {
      batches.get(batch).stripes.put(stripe.id(), stripe);
    }
  }

  private void add(FileView file) {
    batches.get(batchOf(file.id())).files.add(file);
  }

  /**
   * The files of the stripes that a decision about these asks for: those that were read, and those
   * that tell the policy of a stripe. A file that may be encoded itself is left out.
   *
   * @param reads how often a file was read
   */
  public static List<FileView> filesOfStripes(
      NamespaceView view, PolicySet policies, Batch batch, ReadCounts reads) {
    Map<Long, FileView> more = new HashMap<>();
    for (StripeView stripe : batch.stripes.values()) {
      boolean followsFiles = policies.named(stripe.policy()).isEmpty();
      for (long id : stripe.fileIds()) {
        if (!more.containsKey(id) && (followsFiles || reads.of(id) > 0)) {
          FileView file = view.file(id);
          if (file != null && file.unencodedBlocks() == 0) {
            more.put(id, file);
          }
        }
      }
    }
    batch.files.forEach(file -> more.remove(file.id()));
    return List.copyOf(more.values());
  }
}
