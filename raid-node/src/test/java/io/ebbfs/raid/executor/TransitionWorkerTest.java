package io.ebbfs.raid.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.raid.FakeChunks;
import io.ebbfs.raid.FakeNamenode;
import io.ebbfs.raid.config.RaidConfig;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TransitionWorkerTest {
  private static final long LIFE_MILLIS = TimeUnit.MINUTES.toMillis(10);

  private static final TransitionWorker.Listener NOBODY =
      new TransitionWorker.Listener() {
        @Override
        public void ended(TransitionOutcome outcome) {}

        @Override
        public void alive() {}
      };

  private final FakeNamenode namenode = new FakeNamenode();

  /** Threads that only the thread of this call can start: a loop cannot start what it claims. */
  private static ThreadFactory onlyOfThisThread() {
    Thread starter = Thread.currentThread();
    return task ->
        new Thread(task) {
          @Override
          public void start() {
            if (Thread.currentThread() != starter) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            setDaemon(true);
            super.start();
          }
        };
  }

  /** A worker that goes on with its other loop would renew a claim that nobody runs. */
  @ParameterizedTest
  @EnumSource(
      value = TransitionKindProto.class,
      names = {"REPAIR", "ENCODE"})
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aWorkerThatCannotRunWhatItClaimsEndsAtOnce(TransitionKindProto kind) throws Exception {
    namenode.plan(FakeNamenode.transition(1, kind, 1, 1000));
    RaidConfig config = RaidConfig.DEFAULTS;
    try (ExecutorResources resources =
        ExecutorResources.of(config, namenode, new FakeChunks(), () -> {})) {
      TransitionWorker worker =
          new TransitionWorker("w", config, resources, NOBODY, onlyOfThisThread());
      assertThatThrownBy(() -> worker.run(LIFE_MILLIS))
          .hasRootCauseInstanceOf(OutOfMemoryError.class);
      assertThat(worker.holds(1)).as("the claim is released").isFalse();
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aWorkerEndsAfterItsLife() throws Exception {
    RaidConfig config = RaidConfig.DEFAULTS;
    try (ExecutorResources resources =
        ExecutorResources.of(config, namenode, new FakeChunks(), () -> {})) {
      new TransitionWorker("w", config, resources, NOBODY).run(1);
    }
  }
}
