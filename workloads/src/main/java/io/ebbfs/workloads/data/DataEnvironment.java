package io.ebbfs.workloads.data;

import io.ebbfs.testbed.Build;
import io.ebbfs.workloads.experiment.SourceCommit;
import io.ebbfs.workloads.results.DataResults.Environment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.apache.hadoop.util.VersionInfo;

/** Describes where and how a benchmark ran. */
final class DataEnvironment {
  private final String commit;
  private final DataOptions options;
  private final String startedAt = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  private final double loadBefore = load();
  private boolean nativeLibrary;
  private boolean nativeErasureCoding;

  private DataEnvironment(String commit, DataOptions options) throws IOException {
    this.commit = commit;
    this.options = options;
  }

  static DataEnvironment before(Build build, DataOptions options)
      throws IOException, InterruptedException {
    return new DataEnvironment(SourceCommit.of(build.home()), options);
  }

  /** Asks a client, whose JVM has the flags of all others, for Hadoop's native library. */
  void seen(DataClient client) throws IOException, InterruptedException {
    nativeLibrary = client.hasNativeLibrary();
    nativeErasureCoding = client.hasNativeErasureCoding();
  }

  Environment after() throws IOException {
    Shape shape = options.shape();
    return new Environment(
        commit,
        startedAt,
        Runtime.getRuntime().availableProcessors(),
        processor(),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("java.runtime.version"),
        VersionInfo.getVersion(),
        shape.servers(),
        shape.disks(),
        shape.blockBytes(),
        shape.rate(),
        nativeLibrary,
        nativeErasureCoding,
        options.quick(),
        options.rounds(),
        options.seed(),
        loadBefore,
        load());
  }

  private static double load() throws IOException {
    return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
  }

  private static String processor() throws IOException {
    return Files.readString(Path.of("/proc/cpuinfo"))
        .lines()
        .filter(line -> line.startsWith("model name"))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElse("unknown");
  }
}
