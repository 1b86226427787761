package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Prices;
import io.ebbfs.workloads.experiment.Experiment;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.experiment.ExperimentFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The manager takes the configuration that an experiment writes for each of its systems. */
class ExperimentPoliciesTest {
  @TempDir private Path directory;

  static Stream<Path> published() throws IOException {
    return Files.list(Path.of("..", "conf", "experiments"));
  }

  @ParameterizedTest
  @MethodSource("published")
  void theManagerTakesTheConfigurationOfEachSystem(Path file) throws Exception {
    Experiment experiment = ExperimentFile.read(file, false);
    for (Variant system : experiment.systems()) {
      Map<String, String> configuration = experiment.configuration(system);
      Files.writeString(
          directory.resolve(ManagerConfig.FILE), configuration.get(ManagerConfig.FILE));
      assertThat(ManagerConfig.load(directory).heat().memoryMillis())
          .isEqualTo(experiment.policy().memoryMillis());
      PolicySet policies =
          PolicySet.parse(
              Path.of(PolicySet.FILE), configuration.get(PolicySet.FILE), CodeRegistry.builtIn());
      for (PolicyRule rule : policies.rules()) {
        boolean auto = rule.readHot().unit() == ReadHot.Unit.AUTO;
        assertThat(auto).as(system.name()).isEqualTo(system.prices().isPresent());
        system
            .prices()
            .ifPresent(
                prices ->
                    assertThat(rule.prices())
                        .isEqualTo(new Prices(prices.storage(), prices.reader())));
      }
    }
  }
}
