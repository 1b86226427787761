package io.ebbfs.namenode.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.placement.BalancePlan.Disk;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which disks give bytes, and which get some. */
class BalancePlanTest {
  private static Disk disk(int server, int number, long capacity, long used) {
    return disk("DISK", server, number, capacity, used);
  }

  private static Disk disk(String type, int server, int number, long capacity, long used) {
    return new Disk(
        "d" + server + "-" + number, "s" + server, type, capacity, used, capacity - used);
  }

  @Test
  void eachTypeIsLevelledAlone() {
    List<Disk> disks = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      disks.add(disk("DISK", i, 0, 1_000, 800));
      disks.add(disk("ARCHIVE", i, 1, 1_000, 0));
    }
    assertThat(BalancePlan.of(disks, 0.1).isLevelled()).isTrue();
    assertThat(BalancePlan.of(disks, 0.1).sources()).isEmpty();
    disks.add(disk("ARCHIVE", 3, 0, 1_000, 400));
    BalancePlan plan = BalancePlan.of(disks, 0.15);
    assertThat(plan.sources()).containsExactly(disks.get(6));
    assertThat(plan.bytesToMove()).isEqualTo(300);
    assertThat(plan.targets(disks.get(6), 10))
        .containsExactlyInAnyOrder(disks.get(1), disks.get(3), disks.get(5));
  }

  @Test
  void disksNearTheMeanStayAsTheyAre() {
    BalancePlan plan = BalancePlan.of(List.of(disk(0, 0, 1_000, 450), disk(1, 0, 1_000, 550)), 0.1);
    assertThat(plan.isLevelled()).isTrue();
    assertThat(plan.sources()).isEmpty();
    assertThat(plan.bytesToMove()).isZero();
  }

  @Test
  void anEmptyDiskFillsThoughNoDiskIsTooFull() {
    List<Disk> disks = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      disks.add(disk(i, 0, 1_000, 500));
    }
    disks.add(disk(9, 0, 1_000, 0));
    BalancePlan plan = BalancePlan.of(disks, 0.1);
    assertThat(plan.mean()).isEqualTo(0.45);
    assertThat(plan.bytesToMove()).isEqualTo(450);
    assertThat(plan.sources()).hasSize(9);
    assertThat(plan.targets(disks.get(0), 10)).containsExactly(disks.get(9));
  }

  @Test
  void disksWithoutCapacityTakeNoPart() {
    BalancePlan plan = BalancePlan.of(List.of(disk(0, 0, 0, 0), disk(1, 0, 10, 9)), 0.1);
    assertThat(plan.isLevelled()).isTrue();
    assertThat(BalancePlan.of(List.of(), 0.1).bytesToMove()).isZero();
  }

  /** The spread never grows, no disk is overfilled, and enough moves make the disks level. */
  @Test
  void movesOfAnyClusterEndWithLevelDisks() {
    long seed = Long.getLong("ebbfs.seed", new Random().nextLong());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      int servers = 3 + random.nextInt(8);
      long block = 1_000;
      List<Disk> disks = new ArrayList<>();
      for (int s = 0; s < servers; s++) {
        for (int d = 0; d < 1 + random.nextInt(3); d++) {
          long capacity = 100_000L * (1 + random.nextInt(3));
          disks.add(disk(s, d, capacity, block * random.nextInt((int) (capacity / block))));
        }
      }
      double threshold = 0.05 + random.nextDouble() / 5;
      double before = spread(disks, BalancePlan.of(disks, threshold).mean());
      int moves = 0;
      BalancePlan plan = BalancePlan.of(disks, threshold);
      while (moves < 20_000 && move(disks, plan, block)) {
        moves++;
        plan = BalancePlan.of(disks, threshold);
      }
      double after = spread(disks, plan.mean());
      assertThat(after).isLessThanOrEqualTo(before + 1e-9);
      assertThat(disks).allMatch(d -> d.usedBytes() >= 0 && d.remainingBytes() >= 0);
      assertThat(plan.isLevelled() || !hasTwoSides(disks, plan.mean())).isTrue();
    }
  }

  private static boolean hasTwoSides(List<Disk> disks, double mean) {
    // One server may hold all disks of one side: its disks cannot fill each other.
    return disks.stream().filter(d -> d.share() > mean).map(Disk::serverUuid).distinct().count() > 1
        && disks.stream().filter(d -> d.share() < mean).map(Disk::serverUuid).distinct().count()
            > 1;
  }

  private static double spread(List<Disk> disks, double mean) {
    return disks.stream().mapToDouble(d -> Math.abs(d.share() - mean)).max().orElse(0);
  }

  /** Moves a block as the plan says; false if it says that no more can move. */
  private static boolean move(List<Disk> disks, BalancePlan plan, long block) {
    for (Disk source : plan.sources()) {
      for (Disk target : plan.targets(source, block)) {
        if (source.usedBytes() >= block) {
          change(disks, source, -block);
          change(disks, target, block);
          return true;
        }
      }
    }
    return false;
  }

  private static void change(List<Disk> disks, Disk disk, long bytes) {
    disks.set(
        disks.indexOf(disk),
        new Disk(
            disk.storageUuid(),
            disk.serverUuid(),
            disk.type(),
            disk.capacityBytes(),
            disk.usedBytes() + bytes,
            disk.remainingBytes() - bytes));
  }
}
