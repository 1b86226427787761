package io.ebbfs.namenode.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.StripePacker;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PackingTest {
  private static Packing.Packed pack(
      ErasureCode code, List<StripeBlock> blocks, double maxOverhead) {
    return Packing.pack(code, CodeRegistry.builtIn().mergesInto(code), blocks, maxOverhead);
  }

  private static List<StripeBlock> blocks(int count, long length) {
    List<StripeBlock> blocks = new ArrayList<>();
    for (int b = 0; b < count; b++) {
      blocks.add(new StripeBlock(b, length, b / 4, b % 4, List.of("d" + b)));
    }
    return blocks;
  }

  @Test
  void groupsOfTheFastProductCodeHaveThreeStripes() {
    Packing.Packed packed = pack(Codes.byName("PC(2x5)"), blocks(70, 1000), 3);
    assertThat(packed.groups()).hasSize(3);
    assertThat(packed.groups().get(0).stripes()).hasSize(3);
    assertThat(packed.groups().get(2).stripes()).hasSize(1);
    assertThat(packed.leftOut()).isEmpty();
    assertThat(packed.report().parityBytes()).isEqualTo(7 * 8 * 1000);
    assertThat(packed.report().idealParityBytes()).isEqualTo(7 * 8 * 1000);
    assertThat(packed.report().emptyPositions()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"PC(6x5), 30", "'LRC(12,2,2)', 12", "'LRC(12,6,2)', 12", "'RS(10,4)', 10"})
  void otherCodesHaveGroupsOfOne(String name, int data) {
    ErasureCode code = Codes.byName(name);
    Packing.Packed packed = pack(code, blocks(data * 3, 7), 3);
    assertThat(packed.groups()).hasSize(3);
    assertThat(packed.groups()).allMatch(group -> group.stripes().size() == 1);
    assertThat(packed.report().parityBytes()).isEqualTo(packed.report().idealParityBytes());
  }

  @Test
  void blocksThatWouldCostMoreThanReplicasAreLeftOut() {
    Packing.Packed packed = pack(Codes.byName("PC(6x5)"), blocks(31, 10), 2.9);
    assertThat(packed.groups()).hasSize(1);
    assertThat(packed.leftOut()).hasSize(1);
    assertThat(pack(Codes.byName("PC(6x5)"), blocks(31, 10), 4).leftOut()).isEmpty();
    assertThat(pack(Codes.byName("PC(6x5)"), List.of(), 3).groups()).isEmpty();
  }

  @Test
  void aPartOfAGridIsFilledWithFewParities() {
    ErasureCode code = Codes.byName("PC(6x5)");
    for (int blocks = 1; blocks <= 30; blocks++) {
      List<Integer> positions = StripePacker.positionsFor(code, blocks);
      assertThat(positions).doesNotHaveDuplicates().hasSize(blocks);
      int parities = code.occupied(positions).size() - blocks;
      int fewest = Integer.MAX_VALUE;
      for (int rows = 1; rows <= 6; rows++) {
        int columns = (blocks + rows - 1) / rows;
        fewest = columns <= 5 ? Math.min(fewest, rows + columns + 1) : fewest;
      }
      assertThat(parities).as("%d blocks", blocks).isEqualTo(fewest);
    }
  }

  @Test
  void sortingByLengthKeepsPaddingSmall() {
    long seed = 12;
    Random random = new Random(seed);
    List<PlacementDisk> disks = Clusters.cluster(12, 6, random);
    for (String name : List.of("PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)")) {
      List<StripeBlock> blocks = new ArrayList<>();
      for (int b = 0; b < 900; b++) {
        long length = random.nextInt(3) == 0 ? 1 << 20 : 1 + random.nextInt(1 << 20);
        blocks.add(Clusters.block(b, length, disks, random));
      }
      Packing.Packed packed = pack(Codes.byName(name), blocks, 3);
      long packedBlocks =
          packed.groups().stream()
              .flatMap(group -> group.stripes().stream())
              .mapToLong(java.util.Map::size)
              .sum();
      assertThat(packedBlocks + packed.leftOut().size()).isEqualTo(900);
      assertThat(packed.report().parityBytes())
          .as("%s, seed %d", name, seed)
          .isLessThan((long) (packed.report().idealParityBytes() * 1.06));
    }
  }

  @Test
  void blocksOfAFileStayTogetherWhereTheirDisksAllowIt() {
    List<StripeBlock> blocks = blocks(60, 500);
    Packing.Packed packed = pack(Codes.byName("PC(6x5)"), blocks, 3);
    List<Long> first =
        packed.groups().get(0).stripes().get(0).values().stream()
            .map(StripeBlock::blockId)
            .toList();
    assertThat(first).isSorted().startsWith(0L, 1L, 2L, 3L).hasSize(30).endsWith(29L);
  }

  /** Or stripes would store more than was reckoned with when they were proposed. */
  @Test
  void whereReplicasAreMakesNoDifferenceToTheLengthsInAStripe() {
    Random random = new Random(11);
    List<StripeBlock> apart = new ArrayList<>();
    List<StripeBlock> crowded = new ArrayList<>();
    for (int b = 0; b < 120; b++) {
      long length = Math.min(1000, 500 + random.nextInt(1000));
      apart.add(new StripeBlock(b, length, b, 0, List.of("d" + b)));
      crowded.add(new StripeBlock(b, length, b, 0, List.of("d" + random.nextInt(8))));
    }
    assertThat(lengths(crowded)).isEqualTo(lengths(apart));
  }

  private static List<List<Long>> lengths(List<StripeBlock> blocks) {
    return pack(Codes.byName("LRC(12,6,2)"), blocks, 3).groups().stream()
        .map(
            group ->
                group.stripes().get(0).values().stream().map(StripeBlock::lengthBytes).toList())
        .toList();
  }

  @Test
  void aBlockWhoseDisksAreTakenWaitsForTheNextStripe() {
    List<StripeBlock> blocks = new ArrayList<>();
    for (int b = 0; b < 24; b++) {
      String disk = b < 12 ? "same" : "d" + b;
      blocks.add(new StripeBlock(b, 500, 1, b, List.of(disk)));
    }
    Packing.Packed packed = pack(Codes.byName("LRC(12,2,2)"), blocks, 3);
    long onSame =
        packed.groups().get(0).stripes().get(0).values().stream()
            .filter(block -> block.replicas().contains("same"))
            .count();
    assertThat(onSame).isEqualTo(1);
  }
}
