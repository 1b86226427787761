package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.LaggingStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Tables;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.Test;

/** Calls that come again, perhaps at another namenode, while their first run is under way. */
class SharedRepeatedCallTest extends RepeatedCallTest {
  @Override
  MetadataStore store() {
    return InMemoryStore.shared();
  }

  private boolean mkdir(int id, boolean repeated) throws IOException {
    return call(id, "ann", repeated, () -> real.mkdirs("/new/below"));
  }

  @Test
  void aMkdirThatComesTwiceMakesItsDirectoryOnce() throws IOException {
    assertThat(mkdir(1, false)).isTrue();
    real.deletions.delete(real.root(), "/new", true);
    assertThat(mkdir(1, true)).isTrue();
    assertThat(real.tree()).doesNotContainKey("/new/");
    real.touch("/new");
    assertThat(mkdir(1, true)).as("it has made its directory, before the file came").isTrue();
    assertThatThrownBy(() -> mkdir(2, true)).isInstanceOf(ParentNotDirectoryException.class);
  }

  /** The store shows the row of the call before the row of the file. */
  @Test
  void aRepeatedCreateWaitsForTheRowsOfTheFirst() throws IOException {
    LaggingStore lagging = new LaggingStore(new DirectoryHints(System::nanoTime));
    NamespaceFixture names = new NamespaceFixture(lagging);
    names.mkdirs("/d");
    FileCreationService.Request request = names.request("/d/f", "w", false);
    Inode made = call(1, "ann", false, () -> names.creation.create(names.root(), request));
    lagging.lag(Tables.INODE, made.key(), null);
    int conflicts = lagging.conflicts();
    Inode told = call(1, "ann", true, () -> names.creation.create(names.root(), request));
    assertThat(told.key()).isEqualTo(made.key());
    assertThat(told.row()).isEqualTo(made.row());
    assertThat(lagging.conflicts()).isGreaterThan(conflicts);
  }

  /** Another namenode has run the repetition, while the one with the first run was frozen. */
  @Test
  void aMkdirThatWakesUpMakesNothingAfterItsRepetition() throws IOException {
    assertThat(mkdir(1, true)).isTrue();
    real.deletions.delete(real.root(), "/new", true);
    assertThat(mkdir(1, false)).isTrue();
    assertThat(real.tree()).doesNotContainKey("/new/");

    real.mkdirs("/new/below");
    ClientCall repetition = ClientCall.of(CLIENT, 2, "ann", true).orElseThrow();
    assertThat(ClientCall.run(repetition, () -> real.mkdirs("/new/below"))).isTrue();
    assertThat(repetition.isEffective()).as("the directory was there").isFalse();
    repetition.end(real.store, real.clock.millis());
    real.deletions.delete(real.root(), "/new", true);
    assertThatThrownBy(() -> mkdir(2, false)).isInstanceOf(RetriableException.class);
    assertThat(real.tree()).doesNotContainKey("/new/");
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
