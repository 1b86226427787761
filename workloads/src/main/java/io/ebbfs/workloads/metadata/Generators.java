package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** One load generator per namenode; only one of them works at a time. Not thread-safe. */
final class Generators implements AutoCloseable {
  private final Map<String, LoadGenerator> bySystem = new LinkedHashMap<>();

  private Generators() {}

  static Generators start(Build build, ComparedNamenodes systems, int connections, Path directory)
      throws ClusterException, IOException {
    Generators generators = new Generators();
    for (NamenodeUnderTest namenode : systems.namenodes()) {
      generators.bySystem.put(
          namenode.name(),
          new LoadGenerator(
              "native generator of " + namenode.name(),
              NativeGenerator.command(build, namenode, connections),
              directory.resolve("generator-" + namenode.name() + ".log")));
    }
    return generators;
  }

  void prepare() throws IOException {
    for (LoadGenerator generator : bySystem.values()) {
      generator.prepare();
    }
  }

  /** Runs a row on each system and forgets the figures. */
  void warmUp(String row, double seconds) throws IOException {
    for (LoadGenerator generator : bySystem.values()) {
      generator.run(row, seconds);
    }
  }

  /** Measures a row on one system after the other. */
  void measureInTurn(String row, double seconds, boolean backwards, BiConsumer<String, Run> result)
      throws IOException {
    List<String> order = new ArrayList<>(bySystem.keySet());
    if (backwards) {
      java.util.Collections.reverse(order);
    }
    for (String system : order) {
      result.accept(system, bySystem.get(system).run(row, seconds));
    }
  }

  void remove() throws IOException {
    for (LoadGenerator generator : bySystem.values()) {
      generator.remove();
    }
  }

  @Override
  public void close() throws IOException {
    for (LoadGenerator generator : bySystem.values()) {
      generator.close();
    }
  }
}
