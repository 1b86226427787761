package io.ebbfs.cli;

import static io.ebbfs.cli.Ran.ebb;
import static io.ebbfs.cli.Ran.refused;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command lines of codes, workload, experiment, demo and verify. */
class MeasuringCommandsTest {
  @TempDir Path directory;

  @Test
  void codesAreShownOrRefused() {
    Ran shown = ebb("codes", "RS(6,3)");
    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("RS(6,3)", "6+3", "3 replicas");
    assertThat(refused("codes", "RS(99)")).contains("unknown code \"RS(99)\"");
    assertThat(refused("codes", "--jsn")).contains("did you mean --json?");
    assertThat(refused("codes", "--codes")).contains("--codes has no value");
    assertThat(refused("codes", "--codes", "/none.yaml")).contains("none.yaml", "cannot be read");
    assertThat(refused("codes", "--kernels", "--simulate")).contains("mutually exclusive");
  }

  @Test
  void workloadsAreShownOrRefused() throws Exception {
    Ran shown = ebb("workload", "CC1");
    assertThat(shown.code()).isZero();
    assertThat(shown.out()).contains("CC1", "ok");
    assertThat(ebb("workload", "show", "CC1").out()).isEqualTo(shown.out());
    JsonNode json = new ObjectMapper().readTree(ebb("workload", "--json", "cc1", "fb").out());
    assertThat(json.fieldNames()).toIterable().containsExactly("CC1", "FB");
    assertThat(refused("workload", "CC9")).contains("no workload 'CC9': choose one of");
    assertThat(refused("workload", "show", "CC1", "--files", "3"))
        .contains("--files 3: give at least 20");
    assertThat(refused("workload", "CC1", "--flies", "30")).contains("did you mean --files?");
    assertThat(refused("workload", "run")).contains("NAME is missing");
    assertThat(refused("workload", "run", "CC1", "FB")).contains("'FB' is one word too many");
    assertThat(refused("workload", "run", "CC1", "--mean-size", "1x"))
        .contains("write 1048576, 1024k or 1m");
    assertThat(refused("workload", "run", "trace")).contains("needs --trace FILE");
    assertThat(refused("workload", "grep", "/a")).contains("PATTERN is missing");
    assertThat(refused("workload", "grep", "/a", "b", "--dir", directory.toString()))
        .contains("no cluster in");
  }

  @Test
  void experimentsAreRefused() {
    assertThat(refused("experiment")).contains("a command is missing: choose from run, report");
    assertThat(refused("experiment", "run")).contains("FILE is missing");
    assertThat(refused("experiment", "run", "/none.yaml")).contains("none.yaml", "cannot be read");
    assertThat(refused("experiment", "run", "x", "--loop")).contains("unknown option --loop");
    assertThat(refused("experiment", "run", "x", "--out")).contains("--out has no value");
    assertThat(refused("experiment", "report")).contains("DIR is missing");
    assertThat(refused("experiment", "report", directory.toString())).contains("holds no runs");
  }

  @Test
  void theDemoIsRefused() throws Exception {
    assertThat(ebb("demo", "/none").err()).contains("'/none' is not a directory");
    assertThat(ebb("demo", "/none").code()).isEqualTo(2);
    assertThat(refused("demo", "a", "b")).contains("'b' is one word too many");
    assertThat(refused("demo", "--kep")).contains("did you mean --keep?");
    assertThat(refused("demo", "--seed", "x")).contains("'x' is not a whole number");
    assertThat(refused("demo", "--output")).contains("--output has no value");
    Path empty = Files.createDirectory(directory.resolve("empty"));
    assertThat(ebb("demo", empty.toString(), "--dir", directory + "/c").code()).isEqualTo(2);
  }

  @Test
  void benchmarksAreRefused() {
    assertThat(refused("bench")).contains("a command is missing: choose from metadata");
    assertThat(refused("bench", "data", "--rows", "replicated,walk"))
        .contains("--rows walk: choose from replicated, striped");
    assertThat(refused("bench", "data", "--rounds", "0")).contains("--rounds is 0: give 1 to 100");
    assertThat(refused("bench", "data", "--rate", "fast"))
        .contains("--rate fast is no rate of a link: write 200mbit");
    assertThat(refused("bench", "metadata", "--rows", "stat,walk"))
        .contains("--rows walk: choose from mkdir, create");
    assertThat(refused("bench", "metadata", "--connections", "0"))
        .contains("--connections 0: give 1 to 10000");
    assertThat(refused("bench", "metadata", "--rounds", "0")).contains("--rounds is 0");
    assertThat(refused("bench", "metadata", "--seconds", "0")).contains("--seconds is 0.0");
    assertThat(refused("bench", "metadata", "--files", "9,3"))
        .contains("--files [9, 3]: give ascending numbers");
    assertThat(refused("bench", "append", "--lanes", "65"))
        .contains("--lanes is 65; choose a value from 1 to 64");
    assertThat(refused("bench", "metadata", "--quik")).contains("did you mean --quick?");
  }

  @Test
  void verificationsAreRefused() {
    assertThat(refused("verify")).contains("choose from simulator, kills, histories");
    assertThat(refused("verify", "placement", "--sed", "3")).contains("--sed", "--seed?");
    assertThat(refused("verify", "placement", "--seed", "three")).contains("'three'");
    assertThat(refused("verify", "packing", "RS(99)")).contains("RS(99)");
    assertThat(refused("verify", "simulator", "--schedules", "0"))
        .contains("--schedules is 0: give at least 1");
    assertThat(refused("verify", "simulator", "--minutes", "x"))
        .contains("'x' is not a number of minutes");
    assertThat(refused("verify", "simulator", "--minutes", "1", "--schedules", "1"))
        .contains("mutually exclusive");
    assertThat(refused("verify", "policy", "--against")).contains("--against has no value");
    assertThat(refused("verify", "kills", "--seed", "x")).contains("'x' is not a whole number");
    assertThat(refused("verify", "kills", "--only")).contains("--only has no value");
    assertThat(refused("verify", "conversions", "--quick")).contains("unknown option --quick");
    assertThat(refused("verify", "scale", "--alone", "--files", "9"))
        .contains("--files is 9: give at least 10000");
    assertThat(refused("verify", "scale", "--alone", "--serve"))
        .contains("--alone is for figures, and --serve measures none: leave one out");
    assertThat(refused("prove", "simulator", "--steps", "0")).contains("give at least 1");
    assertThat(ebb("--help").out()).doesNotContain("prove");
  }
}
