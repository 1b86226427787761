package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrafficSourceTest {
  private static final int DAYS = 4;

  @TempDir private Path directory;

  private static double opensPerFile(Traffic traffic) {
    long all = Arrays.stream(traffic.opens()).flatMapToInt(Arrays::stream).asLongStream().sum();
    return (double) all / traffic.blocks().length;
  }

  private static FailureDraws failures(long seed) {
    return FailureDraws.draw(DAYS * 24, seed);
  }

  /** Of 300 paths, 20 have most of the reads; a sample of 20 without weights would have 1.3. */
  @Test
  void theSampleOfATraceKeepsReads() throws IOException {
    StringBuilder lines = new StringBuilder();
    int job = 0;
    for (int path = 0; path < 300; path++) {
      for (int read = 0; read < (path < 20 ? 30 : 1); read++) {
        lines.append("job%d\t%d\t1\t1000\t0\t0\tpath%d%n".formatted(job, job, path));
        job++;
      }
    }
    Path trace = Files.writeString(directory.resolve("trace.tsv"), lines);
    long seed = Long.getLong("seed", new Random().nextInt(10_000));
    System.out.println("seed " + seed);
    TrafficSource source = new TrafficSource(20, DAYS, Optional.of(trace));
    Traffic traffic = source.make(TrafficSource.TRACE, seed, failures(seed));
    assertThat(traffic.blocks()).hasSize(20);
    assertThat(opensPerFile(traffic)).as("seed %d", seed).isBetween(10.0, 30.0);
  }

  @Test
  void theRateOfReadsCanBeSet() throws IOException {
    long seed = Long.getLong("seed", new Random().nextInt(10_000));
    System.out.println("seed " + seed);
    for (double rate : new double[] {0.25, 1, 2.5, 64}) {
      for (String name : new String[] {"CC1", "zipf-daily"}) {
        TrafficSource source = new TrafficSource(200, DAYS, Optional.empty(), rate);
        assertThat(opensPerFile(source.make(name, seed, failures(seed))) / DAYS)
            .as("%s, seed %d", name, seed)
            .isCloseTo(rate, within(rate * 0.4));
      }
    }
  }

  @Test
  void theTailHasFiveTimesAsManyFiles() throws IOException {
    Traffic tail = new TrafficSource(20, DAYS, Optional.empty()).make("zipf-tail", 1, failures(1));
    assertThat(tail.blocks()).hasSize(100);
    assertThat(tail.name()).isEqualTo("zipf-tail");
  }

  /** FB would tell the same as CC1. */
  @Test
  void eachWorkloadIsAnother() {
    assertThat(TrafficSource.names()).doesNotContain("FB").doesNotHaveDuplicates();
  }

  @Test
  void oneAdversaryAttacksDataThatIsNotEncodedYet() throws IOException {
    FailureDraws failures = failures(1);
    TrafficSource source = new TrafficSource(60, DAYS, Optional.empty());
    Traffic fresh = source.make("flap-new", 1, failures);
    Traffic encoded = source.make("flap-auto", 1, failures);
    assertThat(fresh.opens()[0][0]).isPositive();
    assertThat(encoded.opens()[0][0]).isZero();
    int last = Arrays.stream(fresh.opens()).mapToInt(opens -> opens[0]).sum();
    assertThat(last).as("it stops once the data is fast").isBetween(60, 200);
  }
}
