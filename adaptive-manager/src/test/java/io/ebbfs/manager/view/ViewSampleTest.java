package io.ebbfs.manager.view;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ViewSampleTest {
  @Test
  void theShareKeepsFilesAndStripesWithinTheMemory() {
    assertThat(ViewSample.share(100, 0, 0)).as("nothing is stored").isEqualTo(1);
    assertThat(ViewSample.share(100, 100, 1_000)).as("all fit").isEqualTo(1);
    assertThat(ViewSample.share(100, 400, 1_000)).as("many files").isEqualTo(0.25);
    assertThat(ViewSample.share(100, 50, 10_000)).as("few files of many blocks").isEqualTo(0.1);
  }
}
