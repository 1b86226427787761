package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** One load generator per namenode; only one of them works at a time. Not thread-safe. */
final class Generators implements AutoCloseable {
  private final Map<String, LoadGenerator> bySystem = new LinkedHashMap<>();

  private Generators() {}

  static Generators start(
      Build build, ComparedNamenodes compared, String client, int connections, Path directory)
      throws ClusterException, IOException {
    GeneratorCommands commands = new GeneratorCommands(build);
    Generators generators = new Generators();
    for (NamenodeUnderTest namenode : compared.namenodes()) {
      generators.bySystem.put(
          namenode.name(),
          new LoadGenerator(
              client + " generator of " + namenode.name(),
              client.equals(MetadataResults.NATIVE)
                  ? commands.nativeClient(namenode, connections)
                  : commands.stockClient(namenode, connections),
              directory.resolve("generator-" + namenode.name() + ".log")));
    }
    return generators;
  }

  /** A native generator of one system. */
  static LoadGenerator single(
      Build build, NamenodeUnderTest namenode, int connections, Path directory)
      throws ClusterException, IOException {
    return new LoadGenerator(
        "native generator of " + namenode.name(),
        new GeneratorCommands(build).nativeClient(namenode, connections),
        directory.resolve("generator-" + namenode.name() + ".log"));
  }

  /** What one generator measures. */
  interface Measurement {
    Run of(LoadGenerator generator, String system)
        throws ClusterException, IOException, InterruptedException;
  }

  /** The generator of a system. */
  LoadGenerator of(String system) {
    return bySystem.get(system);
  }

  /** Sends a line to one generator after the other. */
  void request(String line) throws IOException {
    for (LoadGenerator generator : bySystem.values()) {
      generator.request(line);
    }
  }

  /** Measures one system after the other, in the opposite order in every other round. */
  void inTurn(int round, Measurement measurement, BiConsumer<String, Run> result)
      throws ClusterException, IOException, InterruptedException {
    List<String> order = new ArrayList<>(bySystem.keySet());
    if (round % 2 == 1) {
      Collections.reverse(order);
    }
    for (String system : order) {
      result.accept(system, measurement.of(bySystem.get(system), system));
    }
  }

  @Override
  public void close() throws IOException {
    for (LoadGenerator generator : bySystem.values()) {
      generator.close();
    }
  }
}
