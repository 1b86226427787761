package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReportLeasesTest {
  private final Set<String> dead = new HashSet<>();
  private final ManualClock clock = new ManualClock();
  private final ReportLeases leases = new ReportLeases(clock, 2, uuid -> !dead.contains(uuid));

  @Test
  void asManyServersAsConfiguredReportAtATime() {
    long first = leases.request("a");
    assertThat(first).isNotEqualTo(ReportLeases.NONE);
    assertThat(leases.request("b")).isNotIn(ReportLeases.NONE, first);
    assertThat(leases.request("c")).isEqualTo(ReportLeases.NONE);
    assertThat(leases.begin("a", first)).isTrue();
    leases.end("a");
    assertThat(leases.request("c")).isNotEqualTo(ReportLeases.NONE);
  }

  @Test
  void aServerThatAsksAgainHasOneLease() {
    for (int i = 0; i < 10; i++) {
      assertThat(leases.request("a")).isNotEqualTo(ReportLeases.NONE);
    }
    assertThat(leases.request("b")).isNotEqualTo(ReportLeases.NONE);
  }

  @Test
  void aLeaseThatIsNotUsedEndsByItself() {
    leases.request("a");
    leases.request("b");
    clock.advance(300_001);
    assertThat(leases.request("c")).isNotEqualTo(ReportLeases.NONE);
    assertThat(leases.begin("a", 1)).as("the other lease is free").isTrue();
    assertThat(leases.begin("b", 2)).isFalse();
  }

  @Test
  void theLeaseOfADeadServerEnds() {
    leases.request("a");
    leases.request("b");
    dead.add("a");
    assertThat(leases.request("c")).isNotEqualTo(ReportLeases.NONE);
  }

  /** Each call of a report renews its lease. */
  @Test
  void aLongReportKeepsItsLease() {
    long lease = leases.request("a");
    leases.request("b");
    for (int i = 0; i < 10; i++) {
      clock.advance(200_000);
      assertThat(leases.begin("a", lease)).isTrue();
      leases.request("b");
      assertThat(leases.request("c")).isEqualTo(ReportLeases.NONE);
    }
  }

  @Test
  void aReportWithoutALeaseIsTakenIfThereIsRoom() {
    assertThat(leases.begin("a", ReportLeases.NONE)).isTrue();
    assertThat(leases.begin("b", 12345)).isTrue();
    assertThat(leases.begin("c", ReportLeases.NONE)).isFalse();
  }
}
