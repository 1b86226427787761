package io.ebbfs.workloads.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GeneratorTest {
  private static final int FILES = 400;

  private static Generator generator(long seed) {
    return new Generator(FILES, 1 << 20, 4, 8, 60_000, seed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"CC1", "CC2", "CC3", "CC4", "FB"})
  void aWorkloadHasTheKnownProperties(String name) {
    Profile profile = Profile.of(name);
    for (long seed = 1; seed <= 20; seed++) {
      Workload workload = generator(seed).generate(profile);
      Properties measured = Properties.of(workload);
      assertThat(profile.hotReads().contains(measured.hotReads()))
          .as("seed %d, reads on hot files %s in %s", seed, measured.hotReads(), profile.hotReads())
          .isTrue();
      assertThat(profile.coldFiles().contains(measured.coldFiles()))
          .as("seed %d, cold files %s in %s", seed, measured.coldFiles(), profile.coldFiles())
          .isTrue();
      assertThat(measured.drift()).as("seed %d", seed).isCloseTo(profile.drift(), within(0.03));
      assertThat(workload.reads()).hasSize(4 * 8 * FILES);
    }
  }

  @Test
  void largeHotFilesHoldMoreOfTheBytesThanOfTheFiles() {
    Properties large = Properties.of(generator(7).generate(Profile.of("CC2")));
    Properties alike = Properties.of(generator(7).generate(Profile.of("CC1")));
    assertThat(large.hotBytes()).isGreaterThan(1.5 * alike.hotBytes());
  }

  @Test
  void theSameSeedGivesTheSameWorkload() {
    assertThat(generator(3).generate(Profile.of("FB")))
        .isEqualTo(generator(3).generate(Profile.of("fb")))
        .isNotEqualTo(generator(4).generate(Profile.of("FB")));
  }

  @Test
  void anUnknownWorkloadIsRefused() {
    assertThatThrownBy(() -> Profile.of("CC5"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("CC5")
        .hasMessageContaining("CC4");
  }
}
