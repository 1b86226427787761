package io.ebbfs.workloads.prove;

import java.util.Arrays;
import java.util.List;

/**
 * {@code ebb prove}: evidence that is made anew by whoever wants it. Exit code 0: it holds; 1: it
 * does not, and the output says where; 2: it could not be tried.
 */
public final class ProveMain {
  private static final String USAGE =
      """
      usage: ebb prove WHAT [OPTIONS]
        kills        kill a process at every fail point of every kind of transition, restart it,
                     and look whether anything is lost, wrong or left over
                     [--seed S] [--only 'WORDS,WORDS']  (cases whose name has all words of
                     one part: 'REPAIR chunk-,raid-after')
                     [--dir D] [--quick]        (--quick: one case of each kind and process)
        conversions  blocks and bytes that conversions and repairs take on a cluster, beside
                     those of their plans [--seed S] [--dir D] [--only FAMILY,FAMILY]
        simulator    thousands of seeded schedules of faults in one process; see its --help
      """;

  private ProveMain() {}

  /** Runs one proof. */
  public static void main(String[] arguments) throws Exception {
    // Before Hadoop's classes look for it.
    if (System.getProperty("log4j.configuration") == null) {
      System.setProperty("log4j.configuration", "io/ebbfs/cluster/log4j.properties");
    }
    String what = arguments.length == 0 ? "" : arguments[0];
    List<String> options =
        Arrays.asList(arguments).subList(Math.min(1, arguments.length), arguments.length);
    try {
      System.exit(run(what, options) ? 0 : 1);
    } catch (ProveException e) {
      System.err.println("ebb prove: " + e.getMessage());
      System.exit(2);
    }
  }

  private static boolean run(String what, List<String> options) throws Exception {
    return switch (what) {
      case "kills" -> KillMatrix.main(ProveOptions.parse(options));
      case "conversions" -> Measurements.main(ProveOptions.parse(options));
      default -> throw new ProveException("nothing to prove named '" + what + "'\n" + USAGE);
    };
  }
}
