package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Storage over time against the bound. */
final class Storage {
  private static final double ROUNDING = 1e-9;
  private static final int POINTS = 240;

  /**
   * A workload on a system.
   *
   * @param bound null for none
   * @param samples with encoded data
   * @param settling samples before the first one within the bound: the very first stripes of a
   *     workload may be padded more than all stripes together; 0 if no sample is within the bound
   * @param above later samples that are above the bound; 0 without a bound
   * @param aboveIn the phases of these samples
   * @param highest overhead of any sample
   * @param last overhead
   * @param longestGapSeconds between neighbouring samples
   * @param curve thinned: of neighbours the highest stays, so that every excess over a bound is
   *     shown
   */
  record Course(
      String system,
      String title,
      String workload,
      Double bound,
      int samples,
      int settling,
      int above,
      List<String> aboveIn,
      double highest,
      double last,
      Double lastFastShare,
      double longestGapSeconds,
      List<At> curve) {}

  /** One moment. */
  record At(double second, double overhead) {}

  private Storage() {}

  static List<Course> courses(Results results) {
    List<Course> courses = new ArrayList<>();
    for (String workload :
        samples(results)
            .flatMap(s -> s.overhead().keySet().stream())
            .distinct()
            .sorted()
            .toList()) {
      courses.add(course(results, workload));
    }
    return courses;
  }

  private static Stream<Sample> samples(Results results) {
    return results.storage().stream().filter(sample -> !sample.phase().equals(Sample.BY_ORDER));
  }

  private static Course course(Results results, String workload) {
    List<Sample> own = samples(results).filter(s -> s.overhead().get(workload) != null).toList();
    Double bound = results.system().bound();
    List<Sample> adapted = adapted(own, bound, workload);
    List<Sample> above =
        adapted.stream().filter(s -> isAbove(bound, s.overhead().get(workload))).toList();
    Sample last = own.get(own.size() - 1);
    List<At> curve = own.stream().map(s -> new At(s.second(), s.overhead().get(workload))).toList();
    return new Course(
        results.system().name(),
        results.system().title(),
        workload,
        bound,
        own.size(),
        own.size() - adapted.size(),
        above.size(),
        above.stream().map(Sample::phase).distinct().toList(),
        curve.stream().mapToDouble(At::overhead).max().orElseThrow(),
        last.overhead().get(workload),
        last.fastShare() == null ? null : last.fastShare().get(workload),
        longestGap(curve),
        thinned(curve));
  }

  /** The samples from the first one within the bound on; all samples if none is. */
  private static List<Sample> adapted(List<Sample> own, Double bound, String workload) {
    List<Sample> adapted =
        own.stream().dropWhile(s -> isAbove(bound, s.overhead().get(workload))).toList();
    return adapted.isEmpty() ? own : adapted;
  }

  private static boolean isAbove(Double bound, double overhead) {
    return bound != null && overhead > bound + ROUNDING;
  }

  private static double longestGap(List<At> curve) {
    double longest = 0;
    for (int i = 1; i < curve.size(); i++) {
      longest = Math.max(longest, curve.get(i).second - curve.get(i - 1).second);
    }
    return longest;
  }

  static List<At> thinned(List<At> curve) {
    if (curve.size() <= POINTS) {
      return curve;
    }
    List<At> thin = new ArrayList<>();
    int each = (curve.size() + POINTS - 1) / POINTS;
    for (int from = 0; from < curve.size(); from += each) {
      List<At> some = curve.subList(from, Math.min(curve.size(), from + each));
      thin.add(some.stream().max((a, b) -> Double.compare(a.overhead, b.overhead)).orElseThrow());
    }
    At last = curve.get(curve.size() - 1);
    if (!thin.get(thin.size() - 1).equals(last)) {
      thin.add(last);
    }
    return thin;
  }
}
