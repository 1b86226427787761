package io.ebbfs.workloads.codes;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The speed of the chunk server's kernels for each code. Kernels know coefficients only, so the
 * matrices of the plans are written to a file, which the benchmark of the kernels reads.
 */
public final class KernelSpeeds {
  /** Where the build leaves the benchmark, from the project's directory. */
  private static final Path BENCHMARK =
      Path.of("chunk-cluster", "target", "cmake", "coding-core", "kernel_benchmark");

  private static final int SHORT_BLOCK_BYTES = 1 << 20;
  private static final String ENCODE = "encode";
  private static final String DECODE = "decode";

  /**
   * @param operation "encode": all parities of a full stripe; "decode": see {@link #worstLoss}
   * @param gbPerSecond by variant: 10^9 bytes of the blocks read, on one core, per second
   */
  record Speed(
      String code,
      String operation,
      long blockBytes,
      int blocksRead,
      int blocksWritten,
      Map<String, Double> gbPerSecond) {}

  /**
   * @param processor its own name
   * @param defaultBackend the backend that chunk servers use here
   * @param samples the number of measurements; each figure is their median
   */
  record Measurement(String processor, String defaultBackend, int samples, List<Speed> results) {

    /** Encode / decode with the default backend, as in "31.0 / 28.1"; "-" if not measured. */
    String speeds(String code) {
      return speed(code, ENCODE)
          .flatMap(
              encode ->
                  speed(code, DECODE)
                      .map(decode -> String.format(Locale.ROOT, "%.1f / %.1f", encode, decode)))
          .orElse("-");
    }

    private Optional<Double> speed(String code, String operation) {
      return results.stream()
          .filter(s -> s.code().equals(code) && s.operation().equals(operation))
          .map(s -> s.gbPerSecond().get(defaultBackend))
          .findFirst();
    }

    /** The remark below a table that shows {@link #speeds}. */
    String footnote() {
      return "kernel GB/s: bytes of the blocks read, encode / decode of the worst loss of data that is"
          + " always survived,\n  blocks of 1 MiB, one core of "
          + processor
          + ", backend "
          + defaultBackend
          + "; more with --kernels";
    }
  }

  private KernelSpeeds() {}

  /**
   * Measures the default backend, for a fraction of a second per code.
   *
   * @return nothing where the benchmark is not built
   * @throws IOException if it fails
   */
  static Optional<Measurement> measureShortly(List<ErasureCode> codes) throws IOException {
    if (!Files.isExecutable(benchmark())) {
      return Optional.empty();
    }
    Path matrices = write(codes);
    try {
      Process process =
          new ProcessBuilder(
                  command(
                      matrices,
                      List.of(
                          "--json",
                          "--default-only",
                          "--samples",
                          "7",
                          "--block-bytes",
                          Integer.toString(SHORT_BLOCK_BYTES))))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String output = new String(process.getInputStream().readAllBytes());
      int status = waitFor(process);
      if (status != 0) {
        throw new IOException(benchmark() + " ended with " + status + "; its message is above");
      }
      return Optional.of(new ObjectMapper().readValue(output, Measurement.class));
    } finally {
      Files.delete(matrices);
    }
  }

  /**
   * Runs the whole benchmark; its table or JSON goes to this process's output.
   *
   * @return its exit status
   */
  public static int run(List<ErasureCode> codes, boolean json) throws IOException {
    if (!Files.isExecutable(benchmark())) {
      throw new IOException(benchmark() + " is not there; run ./ebb build");
    }
    Path matrices = write(codes);
    try {
      return waitFor(
          new ProcessBuilder(command(matrices, json ? List.of("--json") : List.of()))
              .inheritIO()
              .start());
    } finally {
      Files.delete(matrices);
    }
  }

  private static List<String> command(Path matrices, List<String> options) {
    List<String> command = new ArrayList<>(List.of(benchmark().toString(), matrices.toString()));
    command.addAll(options);
    return command;
  }

  private static Path benchmark() {
    return Path.of(System.getProperty("ebbfs.home", ".")).resolve(BENCHMARK);
  }

  private static int waitFor(Process process) {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  private static Path write(List<ErasureCode> codes) throws IOException {
    Path file = Files.createTempFile("ebb-matrices", ".txt");
    Files.writeString(file, matrices(codes));
    return file;
  }

  /** The plans of all codes in the form that the head of kernel_benchmark.cc describes. */
  static String matrices(List<ErasureCode> codes) {
    StringBuilder text = new StringBuilder();
    for (ErasureCode code : codes) {
      Set<Integer> data = IntStream.range(0, code.dataCount()).boxed().collect(Collectors.toSet());
      append(text, code, ENCODE, Planner.encode(code, data));
      repair(code, worstLoss(code)).forEach(plan -> append(text, code, DECODE, plan));
    }
    return text.toString();
  }

  private static void append(
      StringBuilder text, ErasureCode code, String operation, CombinePlan plan) {
    int sources = plan.inputs().size();
    int targets = plan.outputs().size();
    text.append("map %s %s %d %d\n".formatted(code.name(), operation, sources, targets));
    byte[] coefficients = plan.coefficients();
    for (int t = 0; t < targets; t++) {
      for (int s = 0; s < sources; s++) {
        text.append(coefficients[t * sources + s] & 0xff).append(s + 1 < sources ? ' ' : '\n');
      }
    }
  }

  /**
   * A loss of as many data blocks as the tolerance: the first ones, and one more that makes the
   * repair read most. For the codes in common use, no other loss of that size reads more.
   */
  static Set<Integer> worstLoss(ErasureCode code) {
    int count = Math.min(code.tolerance(), code.dataCount());
    return IntStream.range(count - 1, code.dataCount())
        .mapToObj(
            last -> {
              Set<Integer> lost = new HashSet<>(Set.of(last));
              IntStream.range(0, count - 1).forEach(lost::add);
              return lost;
            })
        .max(Comparator.comparingInt(lost -> reads(code, lost)))
        .orElseThrow();
  }

  static int reads(ErasureCode code, Set<Integer> lost) {
    return repair(code, lost).stream().mapToInt(CombinePlan::reads).sum();
  }

  private static List<CombinePlan> repair(ErasureCode code, Set<Integer> lost) {
    Set<Integer> all = IntStream.range(0, code.size()).boxed().collect(Collectors.toSet());
    return Planner.repair(code, all, lost, Set.of(), ReadCost.UNIFORM);
  }
}
