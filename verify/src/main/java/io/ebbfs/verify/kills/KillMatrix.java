package io.ebbfs.verify.kills;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyConfiguration;
import io.ebbfs.verify.cluster.VerifyOptions;
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
 * Runs the kill matrix: each kind of transition with each fail point at which a process may die.
 * All cases run on one cluster of real processes. After a failed case the next one gets a new
 * cluster.
 */
public final class KillMatrix implements AutoCloseable {
  private static final int SERVERS = 8;
  private static final int SERVERS_FOR_MOVES = 9;
  private static final int DISKS = 6;
  private static final int MAX_FAILURES = 5;

  private final Path directory;
  private VerifyCluster cluster;
  private boolean clusterIsForMoves;
  private int clusters;

  private KillMatrix(Path directory) {
    this.directory = directory;
  }

  /** Whether everything held; the findings are printed. */
  public static boolean run(VerifyOptions options) throws Exception {
    List<KillCase> cells = options.quick() ? KillCase.quick(options.seed()) : KillCase.all();
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
   * Runs one case for each process that may die, and prints the findings.
   *
   * @return true if all cases passed
   */
  public static boolean quick(long seed) throws Exception {
    return run(KillCase.quick(seed), seed, Optional.empty());
  }

  private static boolean run(List<KillCase> cells, long seed, Optional<Path> place)
      throws Exception {
    Path directory = RunFiles.place(place, "ebbfs-kills");
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
        // From the seed and the case alone, so that a case can be repeated without all others.
        Random random = new Random(seed * 1_000_003 + cell.toString().hashCode());
        if (matrix.passes(cell, random, "/case-" + i)) {
          passed++;
        } else {
          failed++;
        }
      }
    }
    if (failed == 0 && place.isEmpty()) {
      VerifyCluster.deleteTree(directory);
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
      result
          .underProtected()
          .forEach(finding -> System.out.println("        under-protected: " + finding));
      wrong = result.wrong();
    } catch (IOException | ClusterException | RuntimeException e) {
      System.out.printf("FAILED  %s%n", cell);
      wrong = new ArrayList<>(List.of(e.toString()));
    }
    if (wrong.isEmpty()) {
      return true;
    }
    wrong.forEach(finding -> System.out.println("        " + finding));
    System.out.println("        its cluster stays in " + cluster.directory());
    close();
    return false;
  }

  /**
   * Starts the cluster, unless there is one: with re-placement for a MOVE, without it otherwise.
   */
  private void open(boolean forMoves) throws Exception {
    if (cluster != null && clusterIsForMoves != forMoves) {
      close();
    }
    if (cluster == null) {
      clusterIsForMoves = forMoves;
      cluster =
          VerifyCluster.start(
              directory.resolve("cluster-" + clusters++),
              clusterIsForMoves ? SERVERS_FOR_MOVES : SERVERS,
              DISKS,
              clusterIsForMoves
                  ? Map.of("namenode.yaml", VerifyConfiguration.NAMENODE_FOR_JOINING)
                  : Map.of());
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
