package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.verify.kills.KillMatrix;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One case for each process that may die. The whole matrix is {@code ./ebb verify kills}. */
@Tag("process")
class KillMatrixSystemTest {
  private static final long SEED = Long.getLong("ebbfs.seed", 20_260_301);

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void nothingIsLostWhicheverProcessDies() throws Exception {
    System.out.println("seed " + SEED);
    assertThat(KillMatrix.quick(SEED)).as("seed " + SEED + "; see the output").isTrue();
  }
}
