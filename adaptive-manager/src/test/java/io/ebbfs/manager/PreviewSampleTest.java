package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.schedule.Evaluator;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A preview of many files looks at a sample, and tells nearly what a preview of all tells. */
class PreviewSampleTest {
  private static final int FILES = 6_000;
  private static final String POLICIES =
      """
      policies:
        - {name: p, paths: [/p], family: rs, writeColdAfter: 1s, fillWait: 0s}
      """;
  private static final String EDITED = POLICIES.replace("family: rs", "code: \"RS(12,3)\"");

  @TempDir Path directory;

  @Test
  void aSampleTellsNearlyWhatAllFilesTell() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try (ManagerRig rig = new ManagerRig(directory, POLICIES)) {
      long past = System.currentTimeMillis() - 60_000;
      for (int i = 0; i < FILES; i++) {
        String top = i % 4 == 0 ? "/other/f" : "/p/f";
        rig.namenode.addFile(top + i, past, (1 + random.nextInt(9)) << 16);
      }
      rig.start();
      PolicySet edited = PolicySet.parse(directory.resolve("edit"), EDITED, CodeRegistry.builtIn());
      Evaluator evaluator = rig.manager.evaluator();
      Evaluator.Preview all = evaluator.preview(edited, FILES, rows -> {}, () -> false);
      AtomicLong looked = new AtomicLong();
      Evaluator.Preview sample = evaluator.preview(edited, 2_000, looked::set, () -> false);

      assertThat(all.batches()).hasSize(1);
      assertThat(sample.batches()).hasSize(10);
      assertThat(sample.share()).isCloseTo(1 / 3.0, within(1e-9));
      assertThat(looked.get()).isGreaterThanOrEqualTo(FILES);
      Set<Long> drawn = new HashSet<>();
      sample.batches().stream()
          .flatMap(batch -> batch.verdicts().ofSnapshot().stream())
          .forEach(verdict -> assertThat(drawn.add(verdict.fileId())).as("once").isTrue());
      assertThat(drawn.size()).as("seed %d", seed).isBetween(1_800, 2_200);
      double expected = bytes(all);
      assertThat(expected).isPositive();
      assertThat(bytes(sample)).as("seed %d", seed).isCloseTo(expected, within(0.15 * expected));
      assertThat(without(sample)).as("seed %d", seed).isCloseTo(without(all), within(200.0));
      assertThatThrownBy(() -> evaluator.preview(edited, FILES, rows -> {}, () -> true))
          .isInstanceOf(CancellationException.class);
      assertThat(rig.namenode.proposed).isEmpty();
    }
  }

  private static double bytes(Evaluator.Preview preview) {
    List<Decision> decisions =
        preview.batches().stream().flatMap(batch -> batch.decisions().stream()).toList();
    return decisions.stream().mapToLong(Decision::dataBytes).sum() / preview.share();
  }

  private static double without(Evaluator.Preview preview) {
    return preview.batches().stream()
            .mapToLong(batch -> batch.verdicts().filesWithoutPolicy())
            .sum()
        / preview.share();
  }
}
