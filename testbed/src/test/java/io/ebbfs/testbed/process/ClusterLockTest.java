package io.ebbfs.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.testbed.ClusterException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClusterLockTest {
  @TempDir Path directory;

  @Test
  void oneAtATimeHoldsIt() throws Exception {
    try (ClusterLock lock = ClusterLock.take(directory)) {
      assertThat(lock).isNotNull();
      assertThatThrownBy(() -> ClusterLock.take(directory))
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining(directory + " is being started or stopped by another command");
      assertThatThrownBy(() -> ClusterLock.await(directory, 1))
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining("wait for it to end");
    }
    ClusterLock.take(directory).close();
  }

  @Test
  void whoWaitsGetsItOnceItIsFree() throws Exception {
    CompletableFuture<Void> waited;
    try (ClusterLock lock = ClusterLock.take(directory)) {
      assertThat(lock).isNotNull();
      waited =
          CompletableFuture.runAsync(
              () -> {
                try {
                  ClusterLock.await(directory, 600_000).close();
                } catch (ClusterException | InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      assertThat(waited).isNotDone();
    }
    waited.get();
  }
}
