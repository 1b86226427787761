package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results.Environment;
import java.util.List;
import java.util.stream.Collectors;

/** Tells which systems come from which commit of the source tree. */
final class Commits {
  private static final int SHORT = 12;
  private static final int DAY = "2026-01-31".length();
  private static final String DIRTY = "-dirty";

  private Commits() {}

  /**
   * Refuses systems of different commits.
   *
   * @throws ReportException names each system with its commit, and the remedy
   */
  static void requireOne(Figures figures) throws ReportException {
    if (figures.mixedCommits()) {
      throw new ReportException(
          "the systems come from different commits: %s. Run the systems of the older commits again (delete their runs/*.json first), or add --mixed-commits to report on all of them"
              .formatted(list(figures.runs())));
    }
  }

  /** "pc-1.5: 0123456789ab of 2026-01-31, rs63: unknown commit of 2026-02-01". */
  static String list(List<Figures.Run> runs) {
    return runs.stream()
        .map(
            run ->
                "%s: %s%s"
                    .formatted(run.system().name(), named(run.commit()), day(run.startedAt())))
        .collect(Collectors.joining(", "));
  }

  private static String named(String commit) {
    return commit.equals(Environment.UNKNOWN_COMMIT) ? "unknown commit" : shortened(commit);
  }

  private static String day(String startedAt) {
    return startedAt == null || startedAt.length() < DAY
        ? ""
        : " of " + startedAt.substring(0, DAY);
  }

  static String shortened(String commit) {
    String hash =
        commit.endsWith(DIRTY) ? commit.substring(0, commit.length() - DIRTY.length()) : commit;
    return hash.substring(0, Math.min(SHORT, hash.length())) + commit.substring(hash.length());
  }
}
