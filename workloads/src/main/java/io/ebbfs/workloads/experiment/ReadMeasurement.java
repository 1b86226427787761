package io.ebbfs.workloads.experiment;

import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.results.Results.Reads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Measures reads of single full blocks, healthy and degraded. */
final class ReadMeasurement {
  private static final long READ_SECONDS = 120;
  private static final int WARM_UP_READS = 4;

  private final Experiment experiment;
  private final Variant system;
  private final Bench bench;
  private final Random random;
  private final List<Reads> results = new ArrayList<>();

  ReadMeasurement(Experiment experiment, Variant system, Bench bench, Random random) {
    this.experiment = experiment;
    this.system = system;
    this.bench = bench;
    this.random = random;
  }

  List<Reads> results() {
    return results;
  }

  /** Reads without measuring: first reads load classes and make connections. */
  void warmUp(List<FileBlock> blocks) throws IOException, InterruptedException {
    read(blocks.subList(0, Math.min(WARM_UP_READS, blocks.size())));
  }

  /** Reads some blocks of each code and keeps the latencies. */
  void readEach(int repetition, String what, StripeSnapshot state, List<FileBlock> among)
      throws IOException, InterruptedException {
    Map<String, List<FileBlock>> byCode =
        among.stream()
            .collect(Collectors.groupingBy(state::code, TreeMap::new, Collectors.toList()));
    for (Map.Entry<String, List<FileBlock>> entry : byCode.entrySet()) {
      List<FileBlock> chosen = new ArrayList<>(entry.getValue());
      Collections.shuffle(chosen, random);
      chosen = chosen.subList(0, Math.min(experiment.measure().readsPerCode(), chosen.size()));
      boolean decodes = what.equals("degraded") && !entry.getKey().isEmpty();
      if (!entry.getKey().isEmpty() || system.codes().isEmpty()) {
        List<DegradedRead> theory =
            decodes ? chosen.stream().map(state::degradedRead).toList() : List.of();
        long serverBytes = bench.serverBytes();
        long clientBytes = bench.clientBytes();
        List<Double> millis = read(chosen);
        results.add(
            new Reads(
                repetition,
                what,
                entry.getKey(),
                millis,
                theory.stream().mapToDouble(DegradedRead::blocks).average().orElse(1),
                theory.stream().mapToDouble(DegradedRead::overLinks).average().orElse(0),
                bench.serverBytes() - serverBytes,
                bench.clientBytes() - clientBytes));
      }
    }
  }

  private List<Double> read(List<FileBlock> chosen) throws IOException, InterruptedException {
    List<Double> millis = new ArrayList<>();
    for (FileBlock block : chosen) {
      try {
        millis.add(
            bench
                    .client()
                    .readAt(block.file(), block.offset(), (int) block.bytes())
                    .get(READ_SECONDS, TimeUnit.SECONDS)
                    .micros()
                / 1000.0);
      } catch (ExecutionException | TimeoutException e) {
        throw new IOException(
            "%s at %d cannot be read: %s".formatted(block.file(), block.offset(), e.getMessage()),
            e);
      }
    }
    return millis;
  }
}
