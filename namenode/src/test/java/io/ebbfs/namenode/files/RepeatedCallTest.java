package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.store.CallPruner;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Tables;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls that come again after the answer of their first run was lost, with nothing in memory. */
class RepeatedCallTest {
  static final byte[] CLIENT = "sixteen bytes id".getBytes();

  NamespaceFixture real;

  MetadataStore store() {
    return new InMemoryStore();
  }

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(store());
    real.mkdirs("/d");
  }

  static <R> R call(int callId, String user, boolean repeated, ClientCall.Work<R> work)
      throws IOException {
    return ClientCall.run(ClientCall.of(CLIENT, callId, user, repeated).orElseThrow(), work);
  }

  private static <R> R first(int callId, ClientCall.Work<R> work) throws IOException {
    return call(callId, "ann", false, work);
  }

  private static <R> R again(int callId, ClientCall.Work<R> work) throws IOException {
    return call(callId, "ann", true, work);
  }

  final Object rename(String from, String to) throws IOException {
    real.renames.rename2(real.root(), from, to, false);
    return null;
  }

  @Test
  void aRepeatedRenameSucceedsWithoutEffect() throws IOException {
    real.touch("/a");
    first(1, () -> rename("/a", "/b"));
    real.touch("/a");
    again(1, () -> rename("/a", "/b"));
    assertThat(real.tree()).containsKeys("/a", "/b");
    assertThatThrownBy(() -> again(2, () -> rename("/a", "/b")))
        .isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aRepeatedOldRenameAnswersAsTheFirst() throws IOException {
    real.touch("/a");
    assertThat(first(1, () -> real.renames.rename(real.root(), "/a", "/b"))).isTrue();
    assertThat(again(1, () -> real.renames.rename(real.root(), "/a", "/b"))).isTrue();
    assertThat(again(2, () -> real.renames.rename(real.root(), "/a", "/b"))).isFalse();
  }

  @Test
  void aRepeatedDeleteDeletesNothingElse() throws IOException {
    real.touch("/a");
    assertThat(first(1, () -> real.deletions.delete(real.root(), "/a", false))).isTrue();
    real.touch("/a");
    assertThat(again(1, () -> real.deletions.delete(real.root(), "/a", false))).isTrue();
    assertThat(real.tree()).containsKey("/a");
  }

  @Test
  void aRepeatedCreateReturnsTheFileOfTheFirst() throws IOException {
    long id =
        first(1, () -> real.creation.create(real.root(), real.request("/d/f", "w", false))).id();
    assertThat(
            again(1, () -> real.creation.create(real.root(), real.request("/d/f", "w", false)))
                .id())
        .isEqualTo(id);
    // With overwrite, a second run would replace the file.
    long other =
        first(2, () -> real.creation.create(real.root(), real.request("/d/f", "w", true))).id();
    assertThat(
            again(2, () -> real.creation.create(real.root(), real.request("/d/f", "w", true))).id())
        .isEqualTo(other);
    real.deletions.delete(real.root(), "/d/f", false);
    assertThat(
            again(2, () -> real.creation.create(real.root(), real.request("/d/f", "w", true))).id())
        .as("of a file that was deleted since")
        .isEqualTo(other);
    assertThat(real.tree()).doesNotContainKey("/d/f");
  }

  @Test
  void aRepeatedCreateBelowADeletedDirectoryAnswersAsTheFirst() throws IOException {
    FileCreationService.Request request = real.request("/d/f", "w", false);
    Inode made = first(1, () -> real.creation.create(real.root(), request));
    real.deletions.delete(real.root(), "/d", true);
    Inode told = again(1, () -> real.creation.create(real.root(), request));
    assertThat(told.id()).isEqualTo(made.id());
    assertThat(told.nameText()).isEqualTo("f");
    assertThat(told.row().getReplication()).isEqualTo(made.row().getReplication());
    assertThat(told.row().getOwner()).isEqualTo(made.row().getOwner());
    assertThat(told.row().getModifiedMillis()).isEqualTo(made.row().getModifiedMillis());
    assertThat(real.tree()).doesNotContainKey("/d");
  }

  @Test
  void aCallThatFailedMayRunAgain() throws IOException {
    assertThatThrownBy(() -> first(1, () -> rename("/a", "/b")))
        .isInstanceOf(FileNotFoundException.class);
    real.touch("/a");
    again(1, () -> rename("/a", "/b"));
    assertThat(real.tree()).containsKey("/b");
  }

  @Test
  void theCallOfAnotherUserIsAnotherCall() throws IOException {
    real.touch("/a");
    first(1, () -> rename("/a", "/b"));
    assertThatThrownBy(() -> call(1, "eve", true, () -> rename("/a", "/b")))
        .isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void oldRowsAreDeletedAndNewOnesStay() throws IOException {
    for (int i = 0; i < 10; i++) {
      int id = i;
      real.touch("/f" + i);
      first(id, () -> real.deletions.delete(real.root(), "/f" + id, false));
    }
    assertThat(real.rows(Tables.CALL)).isEqualTo(10);
    new CallPruner(real.store, Clock.offset(real.clock, Duration.ofMinutes(9))).tick();
    assertThat(real.rows(Tables.CALL)).isEqualTo(10);
    new CallPruner(real.store, Clock.offset(real.clock, Duration.ofMinutes(11))).tick();
    assertThat(real.rows(Tables.CALL)).isZero();
  }

  @Test
  void aClientTakesItsSlotsInTurn() throws IOException {
    for (int i = 0; i < 5_000; i++) {
      int id = i;
      real.touch("/f");
      first(id, () -> real.deletions.delete(real.root(), "/f", false));
    }
    assertThat(real.rows(Tables.CALL)).isEqualTo(4096);
  }
}
