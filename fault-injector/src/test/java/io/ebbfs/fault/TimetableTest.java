package io.ebbfs.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.common.config.YamlFile;
import io.ebbfs.fault.Timetable.Event;
import io.ebbfs.fault.Timetable.Shape;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TimetableTest {
  private static final Shape SHAPE = new Shape(11, 6, 3);

  private static Timetable read(String text, Shape shape) throws ConfigException {
    return YamlFile.parse(
        Path.of("faults.yaml"), text, top -> Timetable.read(top, "faults", shape));
  }

  private static String problem(String entry, Shape shape) {
    ConfigException refused =
        catchThrowableOfType(
            ConfigException.class, () -> read("faults:\n  - {" + entry + "}\n", shape));
    assertThat(refused).as("was accepted: %s", entry).isNotNull();
    return String.join("\n", refused.problems().stream().map(ConfigProblem::toString).toList());
  }

  @Test
  void everyFaultIsRead() throws Exception {
    Timetable timetable =
        read(
            """
            faults:
              - {at: 30s, fault: disk}
              - {at: 31s, fault: disk, target: 3/1}
              - {at: 1m, fault: server, target: 3, for: 20s}
              - {at: 2m, fault: rack, target: 1, for: 30s}
              - {at: 5s, fault: slowLink, target: 2, rate: 10mbit, for: 1m}
              - {at: 0s, fault: flap, target: 4, times: 2, period: 4s}
              - {at: 1s, fault: block, target: /data/file}
              - {at: 2s, fault: corrupt, target: 1073741825}
            """,
            SHAPE);
    assertThat(timetable.entries())
        .extracting(Object::toString)
        .containsExactly(
            "disk",
            "disk 3/1",
            "server 3",
            "rack 1",
            "slowLink 2",
            "flap 4",
            "block /data/file",
            "corrupt 1073741825");
    assertThat(timetable.entries().get(4).rate()).isEqualTo("10mbit");
    assertThat(timetable.entries().get(4).line()).isEqualTo(6);
    assertThat(timetable.endMillis()).isEqualTo(150_000);
  }

  @Test
  void eventsComeInTheOrderOfTheirTimesAndFlapsAlternate() throws Exception {
    Timetable timetable =
        read(
            """
            faults:
              - {at: 6s, fault: block}
              - {at: 0s, fault: flap, target: 4, times: 2, period: 4s}
              - {at: 2s, fault: server, target: 1, for: 4s}
            """,
            SHAPE);
    assertThat(timetable.events())
        .containsExactly(
            new Event(0, 1, true),
            new Event(2_000, 1, false),
            new Event(2_000, 2, true),
            new Event(4_000, 1, true),
            new Event(6_000, 1, false),
            new Event(6_000, 2, false),
            new Event(6_000, 0, true));
    assertThat(Timetable.NONE.events()).isEmpty();
    assertThat(Timetable.NONE.endMillis()).isZero();
    assertThat(read("faults: []", SHAPE)).isEqualTo(Timetable.NONE);
  }

  @Test
  void everyProblemIsNamedWithLineAndRemedy() {
    assertThat(problem("at: 1s, fault: sever", SHAPE))
        .isEqualTo("faults.yaml:2: unknown fault 'sever'; did you mean 'server'?");
    assertThat(problem("at: 1s", SHAPE)).contains("an entry names no fault", "slowLink");
    assertThat(problem("fault: disk", SHAPE)).contains("a fault has no time", "at: 30s");
    assertThat(problem("at: soon, fault: disk", SHAPE)).contains("not a duration");
    assertThat(problem("at: 1s, fault: disk, for: 3s", SHAPE)).contains("does not end by itself");
    assertThat(problem("at: 1s, fault: flap, for: 3s", SHAPE)).contains("'times:' and 'period:'");
    assertThat(problem("at: 1s, fault: server, for: 0s", SHAPE)).contains("end it at once");
    assertThat(problem("at: 1s, fault: server, target: 11", SHAPE))
        .contains("'11' is no server; write a number from 0 to 10");
    assertThat(problem("at: 1s, fault: disk, target: 3", SHAPE)).contains("0/0 to 10/5");
    assertThat(problem("at: 1s, fault: disk, target: 3/6", SHAPE)).contains("is no disk");
    assertThat(problem("at: 1s, fault: block, target: x", SHAPE)).contains("neither a path");
    assertThat(problem("at: 1s, fault: slowLink", SHAPE)).contains("has no rate", "10mbit");
    assertThat(problem("at: 1s, fault: slowLink, rate: fast", SHAPE)).contains("is no rate");
    assertThat(problem("at: 1s, fault: server, rate: 1mbit", SHAPE)).contains("belongs to");
    assertThat(problem("at: 1s, fault: server, times: 2", SHAPE)).contains("belongs to 'flap'");
    assertThat(problem("at: 1s, fault: flap, period: 5ms", SHAPE)).contains("at least 1s");
    assertThat(problem("at: 1s, fault: rack, target: 3", SHAPE)).contains("from 0 to 2");
    assertThat(problem("at: 1s, fault: rack", new Shape(4, 1, 1))).contains("has no racks");
    assertThat(problem("at: 1s, fault: disk, targt: 1/1", SHAPE)).contains("did you mean 'target'");
  }

  @Test
  void allProblemsComeAtOnce() {
    ConfigException refused =
        catchThrowableOfType(
            ConfigException.class,
            () ->
                read(
                    """
                    faults:
                      - {at: 1s, fault: server, target: 99}
                      - {at: x, fault: slowLink}
                    """,
                    SHAPE));
    assertThat(refused.problems()).extracting(ConfigProblem::line).isEqualTo(List.of(2, 3, 3));
  }
}
