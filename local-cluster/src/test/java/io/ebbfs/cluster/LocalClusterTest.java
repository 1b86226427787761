package io.ebbfs.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is refused before any process of a cluster runs. */
final class LocalClusterTest {
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

  @Test
  void theCommandEndsWithTwoAndOneMessage() {
    assertThat(error("down", "--dir", directory.toString())).startsWith("error: no cluster in");
    assertThat(error("up", "--dir", directory.toString(), "--servers", "0"))
        .isEqualTo("error: servers 0 is out of range: choose from 1 to 64\n");
    assertThat(error("up", "--colour", "red")).startsWith("error: unknown argument --colour");
    assertThat(error("up", "--block-size", "1x")).contains("write 1048576, 1024k or 1m");
    assertThat(error("fly")).contains("usage:");
  }

  private static String error(String... arguments) {
    PrintStream before = System.err;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      assertThat(ClusterMain.run(List.of(arguments))).isEqualTo(2);
    } finally {
      System.setErr(before);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private Build noBuild() {
    return new Build(directory.resolve("no-such-tree"));
  }

  private static ClusterSpec spec(Path directory) {
    return ClusterSpec.of(directory).withServers(2, 2).withPorts(0, null);
  }
}
