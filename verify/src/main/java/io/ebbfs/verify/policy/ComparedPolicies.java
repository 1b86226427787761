package io.ebbfs.verify.policy;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * The figures of a comparison, one for each workload, system and seed. Tables and goals follow from
 * them, as do the means over the seeds, which are written for scripts and not read again.
 * Immutable.
 *
 * @param format {@link #FORMAT}
 * @param seed the first seed
 * @param seeds how many
 * @param days that were simulated
 */
@JsonIgnoreProperties(value = ComparedPolicies.MEANS, allowGetters = true)
public record ComparedPolicies(int format, long seed, int seeds, int days, List<Result> results) {
  static final int FORMAT = 2;
  static final String MEANS = "workloads";
  private static final String COMPRESSED = ".gz";

  /** The figures of a workload: by system, one for each seed. */
  record Result(String workload, Map<String, List<Ledger.Figures>> systems) {
    private Means means() {
      return new Means(
          workload,
          systems.entrySet().stream().map(e -> SystemMeans.of(e.getKey(), e.getValue())).toList());
    }
  }

  /** The means of a workload. */
  record Means(String name, List<SystemMeans> systems) {}

  /**
   * The means over the seeds of a system.
   *
   * @param netBytesPerByteDay bytes moved per stored logical byte and day
   * @param netHalfWidth95 half the width of the 95% confidence interval of these bytes
   * @param degradedReadMillis of a read of an absent block
   * @param storedPerByte bytes per logical byte
   * @param hotDegradedReadMillis of a read of an absent block of the files that are read most in
   *     their day; null in older figures
   */
  record SystemMeans(
      String name,
      double netBytesPerByteDay,
      double netHalfWidth95,
      double degradedReadMillis,
      double storedPerByte,
      Double hotDegradedReadMillis) {
    private static SystemMeans of(String name, List<Ledger.Figures> seeds) {
      MeanOfSeeds net = MeanOfSeeds.of(seeds, Ledger.Figures::net);
      OptionalDouble hot = PolicyTable.hotMillis(seeds);
      return new SystemMeans(
          name,
          net.mean(),
          net.half(),
          MeanOfSeeds.of(seeds, Ledger.Figures::degradedMillis).mean(),
          MeanOfSeeds.of(seeds, Ledger.Figures::stored).mean(),
          hot.isPresent() ? hot.getAsDouble() : null);
    }
  }

  /** The means by workload and system. */
  @JsonProperty(MEANS)
  List<Means> means() {
    return results.stream().map(Result::means).toList();
  }

  /**
   * Reads what {@link #write} has written.
   *
   * @throws IOException if the file cannot be read, or has another format
   */
  public static ComparedPolicies read(Path file) throws IOException {
    boolean compressed = file.toString().endsWith(COMPRESSED);
    try (InputStream bytes = Files.newInputStream(file);
        InputStream json = compressed ? new GZIPInputStream(bytes) : bytes) {
      ComparedPolicies read = new ObjectMapper().readValue(json, ComparedPolicies.class);
      if (read.format != FORMAT) {
        throw new IOException(
            "%s has the format %d: this version reads %d; make the file again with --json"
                .formatted(file, read.format, FORMAT));
      }
      return read;
    }
  }

  /** Writes JSON, compressed if the name of the file ends with ".gz". */
  public void write(Path file) throws IOException {
    boolean compressed = file.toString().endsWith(COMPRESSED);
    try (OutputStream bytes = Files.newOutputStream(file);
        OutputStream json = compressed ? new GZIPOutputStream(bytes) : bytes) {
      new ObjectMapper().writeValue(json, this);
    }
  }

  /** Prints tables and goals. */
  public void print(PrintStream out) {
    out.printf(
        "Redundancy policies, %d simulated days, seeds %d to %d. Bytes are per stored byte and day,"
            + " x 1000.%n",
        days, seed, seed + seeds - 1);
    results.forEach(result -> PolicyTable.print(result, out));
    PolicyTable.print(PolicyGoals.judge(results), out);
  }
}
