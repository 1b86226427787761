package io.ebbfs.workloads.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.Build;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExperimentFileTest {
  private static final String EXAMPLE =
      """
      title: an example
      seed: 7
      cluster: {servers: 9, blockSize: 2MiB}
      data: {workloads: [CC1, FB], files: 30}
      policy: {readHotPerMiB: 0.25, halfLife: 10s}
      systems:
        - {name: pc, family: product, storageBound: 1.5}
        - {name: rs, code: "RS(6,3)"}
        - {name: replicas}
      measure: {repetitions: 3}
      quick:
        data: {files: 20}
        systems: [rs]
      """;

  @TempDir Path temp;

  private Experiment read(String text, boolean quick) throws IOException, ConfigException {
    return ExperimentFile.read(Files.writeString(temp.resolve("example.yaml"), text), quick);
  }

  @Test
  void aFileSaysWhatIsRunOnWhat() throws Exception {
    Experiment read = read(EXAMPLE, false);
    assertThat(read.name()).isEqualTo("example");
    assertThat(read.seed()).isEqualTo(7);
    assertThat(read.cluster().servers()).isEqualTo(9);
    assertThat(read.cluster().blockBytes()).isEqualTo(2 << 20);
    assertThat(read.data().files()).isEqualTo(30);
    assertThat(read.systems()).extracting(Variant::name).containsExactly("pc", "rs", "replicas");
    assertThat(read.systems().get(0).info().fast()).isEqualTo("PC(2x5)");
    assertThat(read.systems().get(0).info().adapts()).isTrue();
    assertThat(read.systems().get(1).info().adapts()).isFalse();
    assertThat(read.systems().get(2).codes()).isEmpty();
    assertThat(read.systems()).extracting(Variant::halfLifeMillis).containsOnly(10_000L);
  }

  static Stream<Path> published() throws IOException {
    return Files.list(Path.of("../conf/experiments"));
  }

  @ParameterizedTest
  @MethodSource("published")
  void eachPublishedExperimentCanBeRead(Path file) throws Exception {
    assertThat(ExperimentFile.read(file, false, null).systems()).isNotEmpty();
    assertThat(ExperimentFile.read(file, true, null).systems()).isNotEmpty();
  }

  @Test
  void faultsMeetConversionsOnlyIfAskedFor() throws Exception {
    assertThat(read(EXAMPLE, false).measure().convertDuringFaults()).isFalse();
    String asked = EXAMPLE.replace("{repetitions: 3}", "{convertDuringFaults: true}");
    assertThat(read(asked, false).measure().convertDuringFaults()).isTrue();
  }

  @Test
  void aRunMayBeRecorded() throws Exception {
    assertThat(read(EXAMPLE, false).measure().recorded()).isFalse();
    String asked = EXAMPLE.replace("{repetitions: 3}", "{recorded: true}");
    assertThat(read(asked, false).measure().recorded()).isTrue();
  }

  @Test
  void quickGoesOverTheRest() throws Exception {
    Experiment read = read(EXAMPLE, true);
    assertThat(read.data().files()).isEqualTo(20);
    assertThat(read.cluster().servers()).isEqualTo(9);
    assertThat(read.systems()).extracting(Variant::name).containsExactly("rs");
  }

  @Test
  void eachWorkloadHasAPolicyWithItsOwnBound() throws Exception {
    Experiment read = read(EXAMPLE, false);
    assertThat(read.configuration(read.systems().get(0)).get("policies.yaml"))
        .contains("name: CC1", "paths: [/CC1]", "name: FB", "family: product", "storageBound: 1.5")
        .contains("readHot: {perMiB: 0.25}");
    assertThat(read.configuration(read.systems().get(1)).get("policies.yaml"))
        .contains("code: RS(6,3)")
        .doesNotContain("storageBound");
  }

  @Test
  void dataMayBeHotByFile() throws Exception {
    Experiment read = read(EXAMPLE.replace("readHotPerMiB: 0.25", "readHotPerFile: 7"), false);
    assertThat(read.configuration(read.systems().get(0)).get("policies.yaml"))
        .contains("readHot: {perFile: 7.0}");
  }

  @Test
  void aSystemMayWeighCosts() throws Exception {
    String auto =
        EXAMPLE
            .replace("halfLife: 10s", "halfLife: 10s, memory: 7m, waitWhileRead: 2m")
            .replace(
                "storageBound: 1.5}",
                "storageBound: 1.5}\n"
                    + "  - {name: auto, family: product, storageBound: 1.5, readHot: auto,"
                    + " prices: {storage: 24}}");
    Experiment read = read(auto, false);
    Variant threshold = read.systems().get(0);
    Variant priced = read.systems().get(1);
    assertThat(priced.prices()).contains(new Experiment.Prices(24, 1));
    assertThat(priced.info().weighsCosts()).isTrue();
    assertThat(read.configuration(priced).get("policies.yaml"))
        .contains(
            "readHot: auto", "prices: {storage: 24.0, reader: 1.0}", "waitWhileRead: 120000ms")
        .doesNotContain("hysteresis", "perMiB");
    assertThat(read.configuration(priced).get("manager.yaml")).contains("memory: 420000ms");
    assertThat(threshold.info().weighsCosts()).isFalse();
    assertThat(read.configuration(threshold).get("policies.yaml"))
        .contains("readHot: {perMiB: 0.25}", "hysteresis")
        .doesNotContain("prices", "waitWhileRead");
  }

  @Test
  void pricesGoWithAutoAndAFamilyOnly() {
    assertThatThrownBy(
            () ->
                read(
                    """
                    data: {workloads: [CC1]}
                    systems:
                      - {name: a, family: product, prices: {storage: 1}}
                      - {name: b, code: "RS(6,3)", readHot: auto}
                      - {name: c, family: product, readHot: 7}
                      - {name: d, family: product, readHot: auto, prices: {reder: 2}}
                    """,
                    false))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("example.yaml:3: prices have no effect with a threshold")
        .hasMessageContaining("example.yaml:4: 'readHot: auto' without a family")
        .hasMessageContaining("example.yaml:5: a system has no threshold of its own")
        .hasMessageContaining("unknown key 'prices.reder'");
  }

  @Test
  void everythingThatIsWrongIsToldWithItsLine() {
    assertThatThrownBy(
            () ->
                read(
                    """
                    cluster: {servers: 3}
                    data: {workloads: [CC9]}
                    policy: {readHotPerMiB: 1, readHotPerFile: 1}
                    sistems: []
                    systems:
                      - {name: a, family: prodct}
                      - {name: a, code: "RS(6,3)", storageBound: 1.4}
                    quick:
                      data: {fils: 20}
                      systems: [b]
                    """,
                    false))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("example.yaml:1: 'cluster.servers: 3'")
        .hasMessageContaining("example.yaml:2: 'CC9' is no workload")
        .hasMessageContaining("example.yaml:3: readHotPerMiB is there as well")
        .hasMessageContaining("example.yaml:4: unknown key 'sistems'; did you mean 'systems'?")
        .hasMessageContaining("no family 'prodct'")
        .hasMessageContaining("a second 'a'")
        .hasMessageContaining("a bound without a family")
        .hasMessageContaining("unknown key 'quick.data.fils'")
        .hasMessageContaining("no system 'b'");
  }

  @Test
  void theExperimentsThatComeWithTheProjectAreRight() throws Exception {
    Path conf = Build.find().conf().resolve("experiments");
    try (Stream<Path> files = Files.list(conf)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        assertThat(ExperimentFile.read(file, true).systems()).as(file.toString()).isNotEmpty();
        assertThat(ExperimentFile.read(file, false).systems()).isNotEmpty();
      }
    }
  }
}
