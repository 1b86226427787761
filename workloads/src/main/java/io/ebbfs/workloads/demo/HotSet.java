package io.ebbfs.workloads.demo;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackedStripe;
import io.ebbfs.coding.packing.StripePacker;
import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The files that the demo reads again and again to its end, so that they are hot. The storage bound
 * lets only a share of a family's bytes into the fast code; the files take half of that share at
 * most. They have about the same length and fill whole stripes, because a bound leaves no room for
 * padding.
 */
record HotSet(Map<Family, List<LocalFile>> files) {
  /** The hot files of a family fill stripes of at least so many blocks, where there are enough. */
  private static final int LEAST_BLOCKS = 30;

  private static final double SHARE_OF_THE_ROOM = 0.5;

  /**
   * The share of a family's bytes that its bound lets into the fast code. Blocks of unequal lengths
   * need padding in any code, which leaves less room.
   */
  static double allowedShare(Family family, Collection<LocalFile> stored, long blockBytes) {
    CodeFamily codes = family.codes();
    double compact = codes.compactCode().overhead();
    double fast = codes.fastCode().overhead();
    double used = overhead(codes.compactCode(), lengths(family, stored, blockBytes));
    return Math.max(0, (DemoConfiguration.bound(family) - used) / (fast - compact));
  }

  private static List<Long> lengths(Family family, Collection<LocalFile> stored, long blockBytes) {
    List<Long> lengths = new ArrayList<>();
    for (LocalFile file : stored) {
      for (long left = file.family() == family ? file.bytes() : 0; left > 0; left -= blockBytes) {
        lengths.add(Math.min(left, blockBytes));
      }
    }
    return lengths;
  }

  /** Stored bytes per byte, as the namenode packs blocks of these lengths. */
  private static double overhead(ErasureCode code, List<Long> lengths) {
    long bytes = lengths.stream().mapToLong(Long::longValue).sum();
    long parities =
        StripePacker.pack(code, lengths).stream().mapToLong(PackedStripe::parityBytes).sum();
    return bytes == 0 ? code.overhead() : (double) (bytes + parities) / bytes;
  }

  static HotSet choose(Collection<LocalFile> stored, long blockBytes, Random random) {
    Map<Family, List<LocalFile>> chosen = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      List<LocalFile> candidates =
          new ArrayList<>(
              stored.stream().filter(f -> f.family() == family && f.bytes() > 0).toList());
      Collections.shuffle(candidates, random);
      chosen.put(family, choose(family, candidates, blockBytes));
    }
    return new HotSet(chosen);
  }

  private static List<LocalFile> choose(
      Family family, List<LocalFile> candidates, long blockBytes) {
    long bytes = candidates.stream().mapToLong(LocalFile::bytes).sum();
    double share = allowedShare(family, candidates, blockBytes) * SHARE_OF_THE_ROOM;
    long bytesLeft = (long) (bytes * share);
    int blocksLeft = blocksToFill(family.codes());
    double length = Math.max(1, Math.min(blockBytes, bytesLeft / blocksLeft));
    List<LocalFile> nearest = new ArrayList<>(candidates);
    nearest.sort(
        Comparator.comparing((LocalFile f) -> f.bytes() > length)
            .thenComparingDouble(f -> Math.abs(f.bytes() - length)));
    List<LocalFile> chosen = new ArrayList<>();
    for (LocalFile file : nearest) {
      int blocks = blocks(file, blockBytes);
      if (file.bytes() <= bytesLeft && blocks <= blocksLeft) {
        chosen.add(file);
        bytesLeft -= file.bytes();
        blocksLeft -= blocks;
      }
    }
    // Fewer blocks would not fill the stripes that are converted together.
    return blocksLeft > blocksToFill(family.codes()) - unit(family.codes())
        ? List.of()
        : List.copyOf(chosen);
  }

  /** Blocks of whole fast stripes, as many of them as are converted together. */
  private static int blocksToFill(CodeFamily codes) {
    return (LEAST_BLOCKS + unit(codes) - 1) / unit(codes) * unit(codes);
  }

  private static int unit(CodeFamily codes) {
    return codes.fastCode().dataCount() * codes.groupSize();
  }

  private static int blocks(LocalFile file, long blockBytes) {
    return (int) ((file.bytes() + blockBytes - 1) / blockBytes);
  }

  List<LocalFile> of(Family family) {
    return files.get(family);
  }

  long bytes(Family family) {
    return of(family).stream().mapToLong(LocalFile::bytes).sum();
  }

  /** All files. The families alternate. */
  List<LocalFile> ranked() {
    List<LocalFile> ranked = new ArrayList<>();
    int most = files.values().stream().mapToInt(List::size).max().orElse(0);
    for (int i = 0; i < most; i++) {
      for (Family family : Family.values()) {
        if (i < of(family).size()) {
          ranked.add(of(family).get(i));
        }
      }
    }
    return ranked;
  }
}
