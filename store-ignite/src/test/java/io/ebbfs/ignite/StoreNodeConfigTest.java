package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.config.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class StoreNodeConfigTest {
  private static final Path EXAMPLE = Path.of("..", "conf", "store.yaml");

  @Test
  void theExampleShowsTheDefaultsAndEveryKey() throws Exception {
    assertThat(StoreNodeConfig.read(EXAMPLE)).isEqualTo(StoreNodeConfig.defaults());
    assertThat(Files.readAllLines(EXAMPLE))
        .filteredOn(line -> line.matches("[a-zA-Z]+:.*"))
        .hasSize(StoreNodeConfig.class.getRecordComponents().length);
  }

  @Test
  void allProblemsComeAtOnce() {
    String text =
        "partitions: 100\nmemory: 1MiB\nlog: 1MiB\nfailureDetection: 1s\nmemry: 1\nthreads: 0\ncopies: 1\n";
    assertThatThrownBy(() -> StoreNodeConfig.parse(Path.of("store.yaml"), text))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("store.yaml:1: 'partitions: 100' is no power of two")
        .hasMessageContaining("store.yaml:2: 'memory: 1048576' is too small")
        .hasMessageContaining("store.yaml:3: 'log: 1048576' is too small")
        .hasMessageContaining("store.yaml:4: 'failureDetection: 1000ms'")
        .hasMessageContaining("store.yaml:5: unknown key 'memry'")
        .hasMessageContaining("store.yaml:6: 'threads: 0'")
        .hasMessageContaining("store.yaml:7: 'copies: 1'");
  }
}
