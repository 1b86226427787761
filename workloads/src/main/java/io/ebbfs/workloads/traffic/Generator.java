package io.ebbfs.workloads.traffic;

import io.ebbfs.workloads.traffic.Workload.File;
import io.ebbfs.workloads.traffic.Workload.Read;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Makes workloads that have the properties of a {@link Profile}. The same arguments give the same
 * workload.
 *
 * @param files how many
 * @param meanBytes of a cold file; lengths are log-normal with most files shorter than the mean
 * @param epochs the number of epochs; some hot files are replaced at the end of each
 * @param readsPerFile in each epoch, on average over all files
 * @param epochMillis how long an epoch lasts
 * @param seed of everything random
 */
public record Generator(
    int files, long meanBytes, int epochs, int readsPerFile, long epochMillis, long seed) {
  /** Spread of the logarithm of the lengths: half of the files are below 0.6 of the mean. */
  private static final double SIGMA = 1.0;

  private static final int WARM_PER_HOT = 2;

  /** The workload of a profile. */
  public Workload generate(Profile profile) {
    Random random = new Random(seed);
    int hotCount = (int) Math.round(files * (1 - profile.coldFiles().middle()));
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
    // The hot files, and the files that may become hot.
    List<Integer> warm = order.subList(0, Math.min(files, WARM_PER_HOT * hotCount));
    List<Integer> hot = new ArrayList<>(warm.subList(0, hotCount));
    List<File> made = lengths(profile, new HashSet<>(warm), random);
    List<Read> reads = new ArrayList<>();
    for (int epoch = 0; epoch < epochs; epoch++) {
      if (epoch > 0) {
        drift(hot, warm, profile, random);
      }
      reads(profile, hot, epoch, random, reads);
    }
    reads.sort(Comparator.comparingLong(Read::atMillis));
    return new Workload(profile.name(), made, reads, epochs, epochs * epochMillis);
  }

  private List<File> lengths(Profile profile, Set<Integer> warm, Random random) {
    List<File> made = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      double scale = warm.contains(i) ? profile.hotFileScale() : 1;
      double length =
          scale * meanBytes * Math.exp(SIGMA * random.nextGaussian() - SIGMA * SIGMA / 2);
      made.add(
          new File(
              "part-%03d/file-%05d".formatted(i / 100, i),
              Math.max(1, Math.min((long) length, 20 * meanBytes))));
    }
    return made;
  }

  /** Replaces some of the hot files by as many others. */
  private static void drift(List<Integer> hot, List<Integer> warm, Profile profile, Random random) {
    int leaving = (int) Math.round(profile.drift() * hot.size());
    List<Integer> others = new ArrayList<>(warm);
    others.removeAll(new HashSet<>(hot));
    Collections.shuffle(others, random);
    Collections.shuffle(hot, random);
    int changing = Math.min(leaving, others.size());
    hot.subList(0, changing).clear();
    hot.addAll(others.subList(0, changing));
  }

  private void reads(
      Profile profile, List<Integer> hot, int epoch, Random random, List<Read> reads) {
    int all = files * readsPerFile;
    int onHot = (int) Math.round(all * profile.hotReads().middle());
    Set<Integer> isHot = new HashSet<>(hot);
    List<Integer> cold = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      if (!isHot.contains(i)) {
        cold.add(i);
      }
    }
    spread(onHot, hot, epoch, random, reads);
    spread(all - onHot, cold, epoch, random, reads);
  }

  /** Gives each file its share of reads at random times, so that few are hot or cold by chance. */
  private void spread(int count, List<Integer> among, int epoch, Random random, List<Read> reads) {
    List<Integer> shuffled = new ArrayList<>(among);
    Collections.shuffle(shuffled, random);
    for (int i = 0; i < count; i++) {
      long at = epoch * epochMillis + random.nextLong(epochMillis);
      reads.add(new Read(at, shuffled.get(i % shuffled.size())));
    }
  }
}
