package io.ebbfs.workloads.prove;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;

/**
 * The kill matrix: each kind of transition, and each point at which a process may die meanwhile. A
 * cluster of real processes is used for all cases, and is made anew after one that failed.
 */
public final class KillMatrix implements AutoCloseable {
  private static final int SERVERS = 8;
  private static final int SERVERS_WITH_MENDING = 9;
  private static final int DISKS = 6;
  private static final int MAX_FAILURES = 5;

  private final Path directory;
  private ProvingCluster cluster;
  private boolean mending;
  private int clusters;

  private KillMatrix(Path directory) {
    this.directory = directory;
  }

  static boolean main(ProveOptions options) throws Exception {
    List<KillCase> cells = options.quick() ? KillCase.oneOfEach(options.seed()) : KillCase.all();
    List<KillCase> chosen =
        cells.stream()
            .filter(
                cell ->
                    options.only().isEmpty()
                        || options.only().stream().anyMatch(words -> has(cell, words)))
            .toList();
    return run(chosen, options.seed(), options.directory());
  }

  private static boolean has(KillCase cell, String words) {
    return Stream.of(words.strip().split("\\s+")).allMatch(cell.toString()::contains);
  }

  /**
   * Runs the part of the matrix that has one case of each kind of transition and role of a process.
   *
   * @return true if all passed; what was found is printed
   */
  public static boolean quick(long seed) throws Exception {
    return run(KillCase.oneOfEach(seed), seed, Optional.empty());
  }

  private static boolean run(List<KillCase> cells, long seed, Optional<Path> place)
      throws Exception {
    Path directory = place.isPresent() ? place.get() : Files.createTempDirectory("ebbfs-kills");
    Files.createDirectories(directory);
    System.out.printf(
        "kill matrix: %d cases, in %d of them two processes die at once; seed %d, in %s%n",
        cells.size(), cells.stream().filter(KillCase::isOfTwo).count(), seed, directory);
    long start = System.nanoTime();
    int passed = 0;
    int failed = 0;
    try (KillMatrix matrix = new KillMatrix(directory)) {
      for (int i = 0; i < cells.size() && failed < MAX_FAILURES; i++) {
        KillCase cell = cells.get(i);
        // Of the case alone, so that one case can be repeated without the others.
        Random random = new Random(seed * 1_000_003 + cell.toString().hashCode());
        if (matrix.passes(cell, random, "/case-" + i)) {
          passed++;
        } else {
          failed++;
        }
      }
    }
    if (failed == 0 && place.isEmpty()) {
      ProvingCluster.deleteTree(directory);
    }
    System.out.printf(
        "%d cases, %d passed, seed %d, %.0f s%n",
        cells.size(), passed, seed, (System.nanoTime() - start) / 1e9);
    return passed == cells.size();
  }

  private boolean passes(KillCase cell, Random random, String path) throws Exception {
    open(cell.kind() == TransitionKindProto.MOVE);
    List<String> wrong;
    try {
      KillRun.Result result = new KillRun(cluster, cell, random).run(path);
      System.out.printf(
          "%-7s %-49s %-8s %-20s %5.1f s  %s%n",
          result.passed() ? "passed" : "FAILED",
          cell,
          result.family(),
          result.died(),
          result.seconds(),
          result.outcome());
      result.weak().forEach(weak -> System.out.println("        weak: " + weak));
      wrong = result.wrong();
    } catch (IOException | ClusterException | RuntimeException e) {
      System.out.printf("FAILED  %s%n", cell);
      wrong = new ArrayList<>(List.of(e.toString()));
    }
    if (wrong.isEmpty()) {
      return true;
    }
    wrong.forEach(what -> System.out.println("        " + what));
    System.out.println("        its cluster stays in " + cluster.directory());
    close();
    return false;
  }

  /** A cluster that mends placements by itself, or one that does not. */
  private void open(boolean withMending) throws Exception {
    if (cluster != null && mending != withMending) {
      close();
    }
    if (cluster == null) {
      mending = withMending;
      cluster =
          ProvingCluster.start(
              directory.resolve("cluster-" + clusters++),
              mending ? SERVERS_WITH_MENDING : SERVERS,
              DISKS,
              mending ? Map.of("namenode.yaml", ProvingCluster.MENDING_NAMENODE) : Map.of());
    }
  }

  @Override
  public void close() throws IOException, ClusterException, InterruptedException {
    if (cluster != null) {
      cluster.close();
      cluster = null;
    }
  }
}
