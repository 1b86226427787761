package io.ebbfs.verify.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads a set of files until a policy has converted most of them to the fast code, then stops until
 * most of them are compact again. It knows the policy and the failures. The reads are recorded, and
 * all systems get the same.
 */
final class Adversary {
  /** The files that it reads: all that lie in the first part, as the fast code has room for. */
  private static final double PART = 0.2;

  /** Just above what a threshold of 10 asks for in one hour. */
  private static final int OPENS = 11;

  /** The first hour of an adversary of encoded data: all data is encoded by then. */
  static final int WHEN_ENCODED = 12;

  private Adversary() {}

  /**
   * @param firstHour before which the adversary reads nothing; 0 to attack new data
   */
  static Traffic read(
      String name, int[] blocks, PolicySystem target, FailureDraws failures, int firstHour) {
    PolicySystemRun run = new PolicySystemRun(target, blocks, failures);
    int attacked = (int) (blocks.length * PART);
    int[][] opens = new int[failures.hours()][blocks.length];
    boolean heating = true;
    for (int hour = 0; hour < failures.hours(); hour++) {
      if (hour >= firstHour) {
        double fast = fastShare(run.stored(), attacked);
        heating = heating ? fast < 0.5 : fast < 0.1;
        for (int file = 0; heating && file < attacked; file++) {
          opens[hour][file] = OPENS;
        }
      }
      run.step(hour, opens[hour]);
    }
    return new Traffic(name, blocks, opens);
  }

  private static double fastShare(StoredFiles stored, int files) {
    List<Double> shares = new ArrayList<>();
    for (int file = 0; file < files; file++) {
      shares.add(stored.shareIn(file, PolicySystem.FAMILY.fast()));
    }
    return shares.stream().mapToDouble(s -> s).average().orElse(0);
  }
}
