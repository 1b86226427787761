package io.ebbfs.workloads.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.workloads.experiment.ExperimentFile;
import io.ebbfs.workloads.experiment.Runner;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Reads;
import io.ebbfs.workloads.results.Results.Repair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An experiment of every kind of measurement, as small as it goes, from its file to the report. */
@Tag("process")
@Tag("long")
class ExperimentSystemTest {
  private static final String SMOKE =
      """
      title: smoke
      seed: 3
      cluster: {servers: 6, disks: 2, rate: 200mbit, blockSize: 128KiB, deadAfter: 2s}
      data: {workloads: [CC1], files: 20, meanSize: 512KiB}
      policy: {writeColdAfter: 1s, fillWait: 1s}
      systems:
        - {name: rs63, title: "RS(6,3)", code: "RS(6,3)"}
      measure: {repetitions: 1, serverLosses: 1, readsPerCode: 3, diskLosses: 1, readersDuringRepair: 1, grep: CC1}
      faults:
        - {at: 1s, fault: block}
        - {at: 2s, fault: disk}
      """;

  @TempDir Path temp;

  @Test
  void anExperimentIsRunOnceAndReported() throws Exception {
    Path file = Files.writeString(temp.resolve("smoke.yaml"), SMOKE);
    Path out = temp.resolve("out");
    Runner runner =
        new Runner(ExperimentFile.read(file, false), !ShapedNetwork.isPossible(), out, List.of());
    assertThat(runner.run()).isZero();

    Path kept = out.resolve("runs/rs63.json");
    Results results = new ObjectMapper().readValue(kept.toFile(), Results.class);
    assertThat(results.reads())
        .extracting(Reads::what, Reads::code)
        .contains(
            org.assertj.core.groups.Tuple.tuple("healthy", "RS(6,3)"),
            org.assertj.core.groups.Tuple.tuple("degraded", "RS(6,3)"));
    assertThat(results.repairs())
        .extracting(Repair::what)
        .contains("disk", "server", "none", "server under load");
    assertThat(results.repairs())
        .allSatisfy(repair -> assertThat(repair.blocksRead()).isEqualTo(repair.plannedReads()));
    assertThat(results.repairs()).anySatisfy(r -> assertThat(r.blocksRead()).isPositive());
    assertThat(results.jobs()).hasSize(2);
    assertThat(results.incidents()).hasSize(2).allSatisfy(i -> assertThat(i.error()).isNull());
    assertThat(results.duringIncidents()).isNotEmpty();
    assertThat(results.storage()).isNotEmpty();
    assertThat(out.resolve("report.html")).isNotEmptyFile();
    assertThat(out.resolve("report.json")).isNotEmptyFile();
    assertThat(out.resolve("cluster")).doesNotExist();

    // What is there is not measured again.
    byte[] before = Files.readAllBytes(kept);
    assertThat(runner.run()).isZero();
    assertThat(kept).hasBinaryContent(before);
  }
}
