package io.ebbfs.namenode.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.StorageType;
import org.junit.jupiter.api.Test;

class TargetGraderTest {
  private static final long CAPACITY = 1_000;

  private static Disk disk(String server, boolean failed, long free, double queued, double errors) {
    return new Disk(
        "disk of " + server,
        1,
        server,
        failed,
        CAPACITY,
        CAPACITY - free,
        free,
        StorageType.DISK,
        queued,
        errors);
  }

  private static Server server(String uuid, int transfers, Disk... disks) {
    return new Server(
        uuid, uuid, "127.0.0.1", 1, 2, 3, "/rack", true, 0, transfers, List.of(disks));
  }

  /** Servers with nothing to do, so that a mean is low. */
  private static List<Server> idle(int count) {
    List<Server> servers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      servers.add(server("idle-" + i, 0, disk("idle-" + i, false, 500, 0, 0)));
    }
    return servers;
  }

  @Test
  void theWorstGradeCounts() {
    List<Server> servers = idle(20);
    Disk good = disk("s", false, 500, 0, 0);
    Disk queue = disk("s", false, 500, 30, 0);
    Disk full = disk("s", false, 50, 30, 0.49);
    Disk errs = disk("s", false, 50, 30, 0.5);
    servers.add(server("s", 0, good, queue, full, errs));
    TargetGrader grader = new TargetGrader(servers);
    assertThat(grader.of(good)).isEqualTo(TargetGrade.GOOD);
    assertThat(grader.of(queue)).isEqualTo(TargetGrade.BUSY);
    assertThat(grader.of(full)).isEqualTo(TargetGrade.FULL);
    assertThat(grader.of(errs)).isEqualTo(TargetGrade.ERRING);
    assertThat(grader.bad())
        .containsExactly(TargetGrade.BUSY, TargetGrade.FULL, TargetGrade.ERRING);
  }

  @Test
  void aBusyServerMakesAllItsDisksBusyAndTellsThemApart() {
    List<Server> servers = idle(20);
    Disk one = disk("s", false, 500, 0, 0);
    Disk other = disk("s", false, 500, 30, 0);
    servers.add(server("s", 200, one, other));
    TargetGrader grader = new TargetGrader(servers);
    assertThat(grader.of(one)).isEqualTo(TargetGrade.BUSY);
    assertThat(grader.ofDisk(one)).isEqualTo(TargetGrade.GOOD);
    assertThat(grader.ofDisk(other)).isEqualTo(TargetGrade.BUSY);
    assertThat(grader.bad()).containsExactly(TargetGrade.BUSY);
  }

  @Test
  void disksThatHaveFailedOrToldNothingCountForNothing() {
    List<Server> servers = idle(3);
    servers.add(server("failed", 0, disk("failed", true, 0, 30, 9)));
    servers.add(server("new", 0, new Disk("new", 2, "new", false, 0, 0, 0)));
    assertThat(new TargetGrader(servers).bad()).isEmpty();
    assertThat(new TargetGrader(List.of()).bad()).isEmpty();
  }
}
