package io.ebbfs.namenode.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HeardWritersTest {
  private long nanos;
  private final HeardWriters writers = new HeardWriters(3, () -> nanos);

  @Test
  void aWriterIsNamedUntilTheLeaderHasHeardAndNotAgainForAWhile() {
    assertThat(writers.hear("a")).isTrue();
    assertThat(writers.hear("a")).isTrue();
    assertThat(writers.toTell()).containsExactly("a");
    assertThat(writers.toTell()).as("the leader has not answered").containsExactly("a");
    writers.told(List.of("a"));
    assertThat(writers.toTell()).isEmpty();
    nanos += TimeUnit.SECONDS.toNanos(9);
    writers.hear("a");
    assertThat(writers.toTell()).isEmpty();
    nanos += TimeUnit.SECONDS.toNanos(1);
    writers.hear("a");
    assertThat(writers.toTell()).containsExactly("a");
  }

  @Test
  void whoDoesNotFitIsNotForgottenSilently() {
    List.of("a", "b", "c").forEach(writers::hear);
    assertThat(writers.hear("d")).isFalse();
    assertThat(writers.hear("a")).isTrue();
    writers.told(List.of("a", "b"));
    assertThat(writers.hear("d")).isTrue();
    assertThat(writers.toTell()).containsExactlyInAnyOrder("c", "d");
    // More than fit are remembered as told: some are named once more.
    writers.told(List.of("c", "d"));
    assertThat(writers.hear("a")).isTrue();
    assertThat(writers.toTell()).containsExactly("a");
  }
}
