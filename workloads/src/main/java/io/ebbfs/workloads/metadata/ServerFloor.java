package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults.Figures;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What every server takes for a call under the load of the native generator: a program in C++ reads
 * the call, looks at nothing, and answers with the same bytes. No namenode can take less.
 */
record ServerFloor(Build build, MetadataOptions options, Path directory) {
  Figures measure() throws ClusterException, IOException {
    try (LoadGenerator generator =
        new LoadGenerator(
            "native generator of the floor",
            new GeneratorCommands(build).constantServer(LoadPlan.MAIN_CONNECTIONS),
            directory.resolve("generator-floor.log"))) {
      String line = String.format(Locale.ROOT, "floor %.3f", options.seconds());
      generator.request(line);
      List<Run> runs = new ArrayList<>();
      for (int round = 0; round < options.rounds(); round++) {
        runs.add(generator.measured(line, generator.request(line)));
      }
      return Figures.of(runs);
    }
  }
}
