package io.ebbfs.verify.policy;

import io.ebbfs.workloads.traffic.Generator;
import io.ebbfs.workloads.traffic.Profile;
import io.ebbfs.workloads.traffic.SwimTrace;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;

/**
 * Makes the traffic of a workload. The same arguments give the same traffic.
 *
 * @param files how many files a workload has
 * @param trace a recorded trace in the format of SWIM, if there is one
 * @param readsPerDay opens of a file a day, on average over the files; not for flash, the trace and
 *     the adversaries
 */
record TrafficSource(int files, int days, Optional<Path> trace, double readsPerDay) {
  static final String TRACE = "trace";
  private static final List<String> OWN =
      List.of(TRACE, "zipf-daily", "zipf-tail", "flash", "flap", "flap-auto", "flap-new");

  /** FB has the same known properties as CC1, so it would tell the same twice. */
  private static final String TWIN = "FB";

  /** The number of files of the comparison. */
  static final int FILES = 200;

  /** Files of zipf-tail, most of which are hardly ever read. */
  private static final int TAIL_FILES = 1000;

  static final double READS_PER_DAY = 8;
  private static final long DAY_MILLIS = 86_400_000;
  private static final int MEAN_BLOCKS = 4;

  /** The longest file of the trace has so many blocks; longer ones are cut. */
  private static final int MOST_BLOCKS = 60;

  private static final int FLASH_HOURS = 6;
  private static final double FLASH_OPENS = 100;
  private static final double FLASHES_PER_DAY = 3;

  /** All names, those of the profiles first. */
  static List<String> names() {
    List<String> names = new ArrayList<>(Profile.all().stream().map(Profile::name).toList());
    names.remove(TWIN);
    names.addAll(OWN);
    return names;
  }

  TrafficSource(int files, int days, Optional<Path> trace) {
    this(files, days, trace, READS_PER_DAY);
  }

  int hours() {
    return days * 24;
  }

  Traffic make(String name, long seed, FailureDraws failures) throws IOException {
    Random random = new Random(seed * 1_000_003 + 7);
    return switch (name.toLowerCase(Locale.ROOT)) {
      case TRACE -> recorded(random);
      case "zipf-daily" -> zipf(name, random);
      case "zipf-tail" ->
          new TrafficSource(files * TAIL_FILES / FILES, days, trace, readsPerDay)
              .zipf(name, random);
      case "flash" -> flash(random);
      case "flap" -> flap(name, PolicySystem.THRESHOLD, failures, Adversary.WHEN_ENCODED, random);
      case "flap-auto" ->
          flap(name, PolicySystem.AUTO_BOUND, failures, Adversary.WHEN_ENCODED, random);
      case "flap-new" -> flap(name, PolicySystem.AUTO_BOUND, failures, 0, random);
      default -> profile(Profile.of(name), seed);
    };
  }

  private Traffic flap(
      String name, PolicySystem target, FailureDraws failures, int firstHour, Random random) {
    return Adversary.read(name, lengths(random), target, failures, firstHour);
  }

  /** The generator makes whole reads per file and day; of these a random part is kept. */
  private Traffic profile(Profile profile, long seed) {
    Generator generator =
        new Generator(
            files,
            MEAN_BLOCKS * StoredFiles.BLOCK,
            days,
            (int) Math.ceil(readsPerDay),
            DAY_MILLIS,
            seed);
    double kept = readsPerDay / Math.ceil(readsPerDay);
    Random random = new Random(seed * 31 + 5);
    Workload workload = generator.generate(profile);
    int[] all = new int[files];
    for (int file = 0; file < files; file++) {
      all[file] =
          (int) ((workload.files().get(file).bytes() + StoredFiles.BLOCK - 1) / StoredFiles.BLOCK);
    }
    int[][] opens = new int[hours()][files];
    for (Workload.Read read : workload.reads()) {
      if (random.nextDouble() < kept) {
        opens[(int) (read.atMillis() / (DAY_MILLIS / 24))][read.file()]++;
      }
    }
    return new Traffic(profile.name(), filling(all), opens);
  }

  /**
   * A random part of the paths, chosen by the number of their reads: most paths of a trace are read
   * once and would tell nothing. The recorded time is stretched over the days.
   */
  private Traffic recorded(Random random) throws IOException {
    Workload workload = new SwimTrace(1, 1, 1).read(trace.orElseThrow());
    List<Integer> chosen = chooseByReads(workload, random);
    double mean =
        chosen.stream().mapToLong(f -> workload.files().get(f).bytes()).average().orElse(1);
    int[] all = new int[chosen.size()];
    int[] index = new int[workload.files().size()];
    Arrays.fill(index, -1);
    for (int i = 0; i < all.length; i++) {
      double blocks = workload.files().get(chosen.get(i)).bytes() / mean * MEAN_BLOCKS;
      all[i] = (int) Math.max(1, Math.min(MOST_BLOCKS, Math.round(blocks)));
      index[chosen.get(i)] = i;
    }
    int[][] opens = new int[hours()][all.length];
    for (Workload.Read read : workload.reads()) {
      if (index[read.file()] >= 0) {
        int hour = (int) (read.atMillis() * hours() / workload.durationMillis());
        opens[Math.min(hours() - 1, hour)][index[read.file()]]++;
      }
    }
    return new Traffic(TRACE, filling(all), opens);
  }

  /**
   * Draws files one after the other without replacement, each with a chance in proportion to its
   * reads (Efraimidis and Spirakis, 2006: the greatest u^(1/weight) come first).
   */
  private List<Integer> chooseByReads(Workload workload, Random random) {
    int[] reads = new int[workload.files().size()];
    workload.reads().forEach(read -> reads[read.file()]++);
    double[] keys = new double[reads.length];
    List<Integer> all = new ArrayList<>();
    for (int file = 0; file < reads.length; file++) {
      keys[file] = Math.log(1 - random.nextDouble()) / reads[file];
      all.add(file);
    }
    all.sort(Comparator.comparingDouble((Integer file) -> -keys[file]));
    return all.subList(0, Math.min(files, all.size()));
  }

  /** Popularity by rank, and twice the mean rate at noon but none at midnight. */
  private Traffic zipf(String name, Random random) {
    int[] blocks = lengths(random);
    List<Integer> ranks = new ArrayList<>();
    double weights = 0;
    for (int file = 0; file < blocks.length; file++) {
      ranks.add(file + 1);
      weights += 1.0 / (file + 1);
    }
    Collections.shuffle(ranks, random);
    int[][] opens = new int[hours()][blocks.length];
    for (int hour = 0; hour < hours(); hour++) {
      double cycle = 1 - Math.cos(2 * Math.PI * hour / 24);
      double all = readsPerDay * blocks.length / 24.0 * cycle;
      for (int file = 0; file < blocks.length; file++) {
        opens[hour][file] = Draws.poisson(all / ranks.get(file) / weights, random);
      }
    }
    return new Traffic(name, blocks, opens);
  }

  private Traffic flash(Random random) {
    int[] blocks = lengths(random);
    int[][] opens = new int[hours()][blocks.length];
    for (int hour = 0; hour < hours(); hour++) {
      for (int file = 0; file < blocks.length; file++) {
        opens[hour][file] += Draws.poisson(0.2 / 24, random);
      }
      for (int crowds = Draws.poisson(FLASHES_PER_DAY / 24, random); crowds > 0; crowds--) {
        int file = random.nextInt(blocks.length);
        for (int later = hour; later < Math.min(hours(), hour + FLASH_HOURS); later++) {
          opens[later][file] += Draws.poisson(FLASH_OPENS, random);
        }
      }
    }
    return new Traffic("flash", blocks, opens);
  }

  private int[] lengths(Random random) {
    int[] all = new int[files];
    for (int file = 0; file < files; file++) {
      all[file] = 1 + random.nextInt(2 * MEAN_BLOCKS - 1);
    }
    return filling(all);
  }

  /** Makes the last file longer, so that all blocks fill whole stripes of every code. */
  private static int[] filling(int[] blocks) {
    int unit = 60;
    int sum = Arrays.stream(blocks).sum();
    blocks[blocks.length - 1] += Math.floorMod(-sum, unit);
    return blocks;
  }
}
