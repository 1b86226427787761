package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.workloads.experiment.SourceCommit;
import io.ebbfs.workloads.results.MetadataResults.Environment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/** Describes where and how a benchmark ran. */
final class MeasuredMachine {
  private MeasuredMachine() {}

  static Environment describe(Build build, MetadataOptions options) throws InterruptedException {
    return describe(
        build, options.heapMebibytes(), options.quick(), options.seconds(), options.rounds());
  }

  static Environment describe(
      Build build, int heapMebibytes, boolean quick, double seconds, int rounds)
      throws InterruptedException {
    return new Environment(
        SourceCommit.of(build.home()),
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        Runtime.getRuntime().availableProcessors(),
        processor(),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("java.runtime.version"),
        org.apache.hadoop.util.VersionInfo.getVersion(),
        heapMebibytes,
        NamenodeJvm.flags(heapMebibytes),
        quick,
        seconds,
        rounds);
  }

  private static String processor() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }
}
