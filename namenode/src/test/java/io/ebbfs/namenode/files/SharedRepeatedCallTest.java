package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Calls that come again, perhaps at another namenode, while their first run is under way. */
class SharedRepeatedCallTest extends RepeatedCallTest {
  @Override
  MetadataStore store() {
    return InMemoryStore.shared();
  }

  /**
   * A frozen namenode wakes up and goes on with a call that its client has repeated elsewhere, more
   * than once. Nobody waits for the answer of the first run.
   */
  @Test
  void ofRunsAtOnceOneTakesEffectAndRepetitionsSucceed() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      for (int round = 1; round <= 200; round++) {
        int id = round;
        real.touch("/a" + id);
        List<Future<Object>> runs = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          boolean repeated = i > 0;
          runs.add(
              threads.submit(
                  () -> call(id, "ann", repeated, () -> rename("/a" + id, "/d/b" + id))));
        }
        for (Future<Object> repetition : runs.subList(1, runs.size())) {
          repetition.get(60, TimeUnit.SECONDS);
        }
        runs.get(0).cancel(false);
        assertThat(real.tree()).containsKey("/d/b" + id);
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
