package io.ebbfs.testbed.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Refusals before any process of a cluster runs. */
final class LocalClusterTest {
  /** For clusters whose files must stay as they were written. */
  static final Map<String, String> NO_POLICY =
      Map.of("policies.yaml", "policies: [{name: none, paths: [/nothing], code: 'XOR(2,1)'}]\n");

  @TempDir Path directory;

  @Test
  void aDirectoryOfSomethingElseIsRefusedAndLeftAlone() throws Exception {
    Files.writeString(directory.resolve("thesis.tex"), "mine");
    assertThatThrownBy(() -> LocalCluster.create(noBuild(), spec(directory)))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("is not empty and holds no cluster");
    assertThat(Files.list(directory)).hasSize(1);
  }

  @Test
  void aMissingBuildIsNamedAndNothingIsStarted() throws Exception {
    Path target = directory.resolve("cluster");
    LocalCluster cluster = LocalCluster.create(noBuild(), spec(target));
    assertThatThrownBy(cluster::start)
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("is not built")
        .hasMessageContaining("./ebb build");
    assertThat(new Launcher(target).running()).isEmpty();
    // The next attempt is not taken for an existing cluster.
    assertThat(LocalCluster.exists(target)).isFalse();
    LocalCluster.create(noBuild(), spec(target));
  }

  @Test
  void filesForLocalClustersTakeThePlaceOfTheGeneralExamples() throws Exception {
    Path home = directory.resolve("home");
    Files.createDirectories(home.resolve("conf/local"));
    for (String file : List.of("policies.yaml", "manager.yaml", "raid-node.yaml")) {
      Files.writeString(home.resolve("conf").resolve(file), "for production");
    }
    Files.writeString(home.resolve("conf/local/policies.yaml"), "for trying out");
    Files.writeString(home.resolve("conf/local/manager.yaml"), "for trying out");
    Path target = directory.resolve("cluster");
    LocalCluster.create(
        new Build(home), spec(target).withConfFiles(Map.of("manager.yaml", "mine")));
    assertThat(target.resolve("conf/policies.yaml")).hasContent("for trying out");
    assertThat(target.resolve("conf/manager.yaml")).hasContent("mine");
    assertThat(target.resolve("conf/raid-node.yaml")).hasContent("for production");
    assertThat(target.resolve("conf/local")).doesNotExist();
  }

  @Test
  void configurationFilesTakeThePlaceOfTheExamples() throws Exception {
    Path home = directory.resolve("home");
    Files.createDirectories(home.resolve("conf/policies"));
    Files.writeString(home.resolve("conf/policies/hot.yaml"), "example");
    Files.writeString(home.resolve("conf/raid-node.yaml"), "example");
    Path target = directory.resolve("cluster");
    LocalCluster.create(
        new Build(home), spec(target).withConfFiles(Map.of("policies/hot.yaml", "mine")));
    assertThat(target.resolve("conf/policies/hot.yaml")).hasContent("mine");
    assertThat(target.resolve("conf/raid-node.yaml")).hasContent("example");
    assertThat(target.resolve("conf/log4j.properties")).exists();
  }

  private Build noBuild() {
    return new Build(directory.resolve("no-such-tree"));
  }

  private static ClusterSpec spec(Path directory) {
    return ClusterSpec.of(directory).withServers(2, 2).withPorts(0, null);
  }
}
