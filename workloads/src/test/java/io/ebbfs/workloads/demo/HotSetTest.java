package io.ebbfs.workloads.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class HotSetTest {
  private static final long BLOCK = 1 << 20;

  private static LocalFile file(Family family, int number, long bytes) {
    return new LocalFile(Path.of("/data/" + number), family.tree + "/" + number, bytes, family);
  }

  /** Many small files and some of several blocks. */
  private static List<LocalFile> stored() {
    Random random = new Random(5);
    List<LocalFile> files = new ArrayList<>();
    for (int i = 0; i < 800; i++) {
      long bytes = i % 10 == 0 ? (1 + random.nextInt(2)) * BLOCK : random.nextInt(200_000);
      files.add(file(Family.values()[i % 2], i, bytes));
    }
    return files;
  }

  private static double room(Family family, long... lengths) {
    List<LocalFile> files = new ArrayList<>();
    for (int i = 0; i < lengths.length; i++) {
      files.add(file(family, i, lengths[i]));
    }
    return HotSet.allowedShare(family, files, BLOCK);
  }

  @Test
  void theBoundAllowsAShareOfTheBytes() {
    long[] fullStripes = new long[60];
    Arrays.fill(fullStripes, 5000);
    assertThat(room(Family.PRODUCT, fullStripes)).isCloseTo(.25, within(1e-9));
    assertThat(room(Family.LRC, fullStripes)).isCloseTo(.20, within(1e-9));
  }

  @Test
  void paddingLeavesLessRoomAndTooLittleLeavesNoHotFiles() {
    long[] lengths = new long[60];
    Arrays.setAll(lengths, i -> 10_000 + 100 * i);
    assertThat(room(Family.LRC, lengths)).isBetween(.001, .19);
    List<LocalFile> oneLongFile = List.of(file(Family.LRC, 0, 9000), file(Family.LRC, 1, 100));
    assertThat(HotSet.allowedShare(Family.LRC, oneLongFile, BLOCK)).isZero();
    assertThat(HotSet.choose(oneLongFile, BLOCK, new Random(1)).ranked()).isEmpty();
  }

  @Test
  void hotFilesFillStripesAndTakeHalfOfTheRoomAtMost() {
    List<LocalFile> stored = stored();
    HotSet hot = HotSet.choose(stored, BLOCK, new Random(1));
    for (Family family : Family.values()) {
      long all =
          stored.stream().filter(f -> f.family() == family).mapToLong(LocalFile::bytes).sum();
      assertThat((double) hot.bytes(family) / all)
          .as(family.key())
          .isBetween(.02, HotSet.allowedShare(family, stored, BLOCK) / 2);
      long blocks = hot.of(family).stream().mapToLong(f -> (f.bytes() + BLOCK - 1) / BLOCK).sum();
      assertThat(blocks).as(family.key()).isEqualTo(family == Family.PRODUCT ? 30 : 36);
      assertThat(hot.of(family)).allMatch(f -> f.family() == family).doesNotHaveDuplicates();
    }
    assertThat(hot.ranked()).hasSize(hot.of(Family.PRODUCT).size() + hot.of(Family.LRC).size());
  }

  @Test
  void aFamilyWithoutFilesHasNoHotFiles() {
    HotSet hot = HotSet.choose(List.of(file(Family.PRODUCT, 1, 0)), BLOCK, new Random(1));
    assertThat(hot.ranked()).isEmpty();
  }
}
