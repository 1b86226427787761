package io.ebbfs.namenode.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChangeTopicTest {
  private final AtomicInteger attempts = new AtomicInteger();
  private final CountDownLatch answered = new CountDownLatch(1);
  private volatile boolean silent = true;

  private final ChangeTopic topic = new ChangeTopic(this::set);

  private void set() throws InterruptedException, ExecutionException {
    attempts.incrementAndGet();
    if (silent) {
      answered.await();
      throw new ExecutionException(new TimeoutException("no broker answers"));
    }
  }

  private record Waiting(Thread thread, FutureTask<Void> result) {}

  private Waiting waiting() throws Exception {
    FutureTask<Void> result =
        new FutureTask<>(
            () -> {
              topic.ensure();
              return null;
            });
    Thread thread = new Thread(result);
    thread.start();
    Await.until("the thread waits", () -> thread.getState() == Thread.State.WAITING);
    return new Waiting(thread, result);
  }

  /** Else each would wait for brokers that are silent, one after the other. */
  @Test
  void allThatComeAtOnceWaitForOneAttempt() throws Exception {
    List<Waiting> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(waiting());
    }
    topic.forget();
    answered.countDown();
    for (Waiting one : all) {
      assertThatThrownBy(() -> one.result().get(60, TimeUnit.SECONDS))
          .hasRootCauseMessage("no broker answers");
    }
    assertThat(attempts).hasValue(1);
    silent = false;
    topic.ensure();
    topic.ensure();
    assertThat(attempts).as("after a failure there is another attempt").hasValue(2);
    topic.forget();
    topic.ensure();
    assertThat(attempts).hasValue(3);
  }

  @Test
  void aThreadThatIsInterruptedLeavesNothingBehind() throws Exception {
    Waiting first = waiting();
    first.thread().interrupt();
    assertThatThrownBy(() -> first.result().get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(InterruptedException.class);
    silent = false;
    topic.ensure();
    assertThat(attempts).hasValue(2);
  }
}
