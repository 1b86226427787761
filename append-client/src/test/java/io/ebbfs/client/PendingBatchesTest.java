package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PendingBatchesTest {
  private final PendingBatches batches = new PendingBatches(0, 100, 1_000, Runnable::run);

  private CompletableFuture<Void> add(int length) throws Exception {
    return batches.add(new byte[length], 0, length);
  }

  @Test
  void recordsThatFitAreSentTogether() throws Exception {
    CompletableFuture<Void> first = add(40);
    CompletableFuture<Void> second = add(60);
    add(1);
    add(300);

    Batch batch = batches.send().orElseThrow();
    assertThat(batch.records()).isEqualTo(2);
    assertThat(batch.lengthBytes()).isEqualTo(100);
    assertThat(batches.send().orElseThrow().firstRecord()).isEqualTo(2);
    assertThat(batches.send().orElseThrow().lengthBytes()).isEqualTo(300);
    assertThat(batches.send()).isEmpty();
    assertThat(first).isNotDone();
    batches.stored(0);
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
  }

  @Test
  void recordsGatherWhileAnAnswerIsAwaited() throws Exception {
    add(10);
    assertThat(batches.send()).isPresent();
    add(10);
    add(20);
    assertThat(batches.send()).as("a batch that is not full").isEmpty();
    add(80);
    assertThat(batches.send().orElseThrow().lengthBytes()).isEqualTo(30);
    assertThat(batches.send()).isEmpty();
    batches.stored(0);
    assertThat(batches.send()).isEmpty();
    batches.stored(1);
    assertThat(batches.send().orElseThrow().lengthBytes()).isEqualTo(80);
  }

  @Test
  void batchesWithoutAnAnswerAreSentAgainInTheirOrder() throws Exception {
    for (int i = 0; i < 3; i++) {
      add(100);
    }
    batches.send();
    batches.send();
    batches.stored(0);
    batches.sendAgain();

    assertThat(batches.oldestSent()).isEmpty();
    assertThat(batches.send().orElseThrow().firstRecord()).isEqualTo(1);
    assertThat(batches.send().orElseThrow().firstRecord()).isEqualTo(2);
    assertThatThrownBy(() -> batches.stored(2)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aWriterGoesOnWithTheNumberThatItIsTold() throws Exception {
    PendingBatches later = new PendingBatches(70, 100, 1_000, Runnable::run);
    assertThat(later.firstUnstored()).isEqualTo(70);
    later.add(new byte[60], 0, 60);
    later.add(new byte[60], 0, 60);
    assertThat(later.send().orElseThrow().firstRecord()).isEqualTo(70);
    assertThat(later.firstUnstored()).isEqualTo(70);
    later.stored(70);
    assertThat(later.firstUnstored()).isEqualTo(71);
    later.send();
    later.stored(71);
    assertThat(later.firstUnstored()).isEqualTo(72);
    later.flush();
  }

  @Test
  void aFailureReachesAllWaitingRecordsAndLaterOnes() throws Exception {
    CompletableFuture<Void> sent = add(100);
    CompletableFuture<Void> waiting = add(100);
    batches.send();
    batches.fail(new IOException("no lane"));

    assertThat(sent).isCompletedExceptionally();
    assertThat(waiting).isCompletedExceptionally();
    assertThatThrownBy(() -> add(1)).hasMessageContaining("no lane");
    assertThatThrownBy(batches::flush).hasMessageContaining("no lane");
  }

  /** The callback of a stored record waits for room, which the answer to the next record gives. */
  @Test
  @Timeout(60)
  void aRecordIsAppendedWhenAnotherOneIsStored() throws Exception {
    Callbacks callbacks = new Callbacks("test");
    PendingBatches full = new PendingBatches(0, 100, 100, callbacks);
    CountDownLatch filled = new CountDownLatch(1);
    CompletableFuture<Void> appended =
        full.add(new byte[100], 0, 100)
            .thenCompose(
                stored -> {
                  try {
                    filled.await();
                    return full.add(new byte[100], 0, 100);
                  } catch (IOException | InterruptedException failure) {
                    return CompletableFuture.failedFuture(failure);
                  }
                });
    full.send();
    full.stored(0);
    full.add(new byte[100], 0, 100);
    filled.countDown();
    full.send();
    full.stored(1);
    full.awaitWork();
    full.send();
    full.stored(2);
    callbacks.await();
    assertThat(appended).isCompleted();
  }

  @Test
  void aClosedWriterIsDoneOnceAllIsStored() throws Exception {
    add(1);
    batches.close();
    assertThat(batches.isDone()).isFalse();
    batches.send();
    batches.stored(0);
    assertThat(batches.isDone()).isTrue();
    assertThatThrownBy(() -> add(1)).hasMessageContaining("closed");
  }
}
