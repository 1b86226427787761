package io.ebbfs.verify.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.verify.placement.LinearProgram.Sum;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BalanceLowerBoundTest {
  private static double forced(String name, int[] disks, int... rackOf) {
    ErasureCode code = Codes.byName(name);
    int[] racks = rackOf.length == 0 ? new int[disks.length] : rackOf;
    return BalanceLowerBound.of(code, PlacementTable.mergesInto(code), disks, racks);
  }

  private static double share(int disks, int[] all) {
    return (double) disks / Arrays.stream(all).sum();
  }

  @Test
  void equalServersForceNothing() {
    for (String name : new String[] {"PC(6x5)", "PC(2x5)", "LRC(12,2,2)", "RS(6,3)"}) {
      assertThat(forced(name, new int[] {10, 10, 10, 10, 10, 10, 10, 10, 10, 10}))
          .as(name)
          .isCloseTo(1, within(1e-9));
    }
  }

  /** Each of 7 servers holds 6 of 42 blocks, whatever its size. Each of 8 holds 2 of 16. */
  @Test
  void equalPartsFillTheSmallest() {
    int[] seven = {8, 9, 10, 12, 12, 12, 12};
    assertThat(forced("PC(6x5)", seven)).isCloseTo(6 / 42.0 / share(8, seven), within(1e-6));
    int[] eight = {8, 9, 10, 12, 12, 12, 12, 12};
    assertThat(forced("LRC(12,2,2)", eight)).isCloseTo(2 / 16.0 / share(8, eight), within(1e-6));
  }

  /** Each of 8 servers holds one of 9 blocks, and one server holds the ninth. */
  @Test
  void onlyOneServerMayHoldMore() {
    int[] eight = {4, 12, 12, 12, 12, 12, 12, 12};
    assertThat(forced("RS(6,3)", eight)).isCloseTo(1 / 9.0 / share(4, eight), within(1e-6));
    int[] big = {12, 12, 12, 12, 12, 12, 12, 60};
    // The big server holds at most 2 blocks, so the other servers hold 7.
    assertThat(forced("RS(6,3)", big)).isCloseTo(1 / 9.0 / share(12, big), within(1e-6));
  }

  /** A server holds at most as many blocks as there are parities. */
  @Test
  void aServerThatIsMuchLargerCannotBeFilled() {
    int[] four = {10, 10, 10, 100};
    // RS(10,4) on 4 servers does not survive two losses. The large server holds 4 of 14 blocks.
    assertThat(forced("RS(10,4)", four)).isCloseTo(10 / 42.0 / share(10, four), within(1e-6));
    // Two stripes of RS(6,3) cannot merge here. The large server holds 3 of 9 blocks of each.
    assertThat(forced("RS(6,3)", four)).isCloseTo(2 / 9.0 / share(10, four), within(1e-6));
  }

  /** Each of five racks holds 3 of 15 blocks. */
  @Test
  void racksForceEqualPartsToo() {
    int[] disks = new int[20];
    int[] rackOf = new int[20];
    for (int s = 0; s < 20; s++) {
      disks[s] = s % 5 == 0 ? 8 : 12;
      rackOf[s] = s % 5;
    }
    assertThat(forced("RS(12,3)", disks, rackOf))
        .isCloseTo(3 / 15.0 / share(4 * 8, disks), within(1e-6));
    assertThat(forced("RS(12,3)", disks)).isCloseTo(1, within(1e-6));
  }

  @Test
  void programsAreSolved() {
    // The least z with z >= x, z >= y, x + 2 y = 6, x <= 1 has x = 1 and y = 2.5.
    LinearProgram program = new LinearProgram();
    int x = program.variable();
    int y = program.variable();
    int z = program.variable();
    program.atMost(new Sum().plus(1, x).plus(-1, z), 0);
    program.atMost(new Sum().plus(1, y).plus(-1, z), 0);
    program.equal(new Sum().plus(1, x).plus(2, y), 6);
    program.atMost(new Sum().plus(1, x), 1);
    assertThat(program.least(z).orElseThrow()).isCloseTo(2.5, within(1e-9));
    program.atMost(new Sum().plus(-1, x), -2);
    assertThat(program.least(z)).isEqualTo(Optional.empty());
  }
}
