package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HottestFilesTest {
  private static final int FILES = 20;

  /** Two of twenty files, by the reads of their day, also in the hours before these reads. */
  @Test
  void aTenthOfTheFilesIsHotInEachDay() {
    int[][] opens = new int[30][FILES];
    opens[23][7] = 3;
    opens[5][11] = 2;
    opens[6][12] = 1;
    opens[24][12] = 1;
    boolean[][] hot = HottestFiles.byHour(opens);
    assertThat(hot.length).isEqualTo(30);
    for (int hour : new int[] {0, 10, 23}) {
      assertThat(hot[hour][7]).isTrue();
      assertThat(hot[hour][11]).isTrue();
      assertThat(hot[hour][12]).isFalse();
    }
    assertThat(hot[24][12]).as("the next day").isTrue();
    assertThat(hot[24][7]).isFalse();
    assertThat(hot[24][0]).as("nobody reads it").isFalse();
  }

  @Test
  void ofAFewFilesOneIsHot() {
    boolean[][] hot = HottestFiles.byHour(new int[][] {{1, 4, 4}});
    assertThat(hot[0]).containsExactly(false, true, false);
  }
}
