package io.ebbfs.workloads.demo;

import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Waits for a state of the cluster and shows on the console how far it is. */
final class ProgressWait {
  private static final long POLL_MILLIS = 500;

  /** What a look at the cluster found. */
  record Progress(boolean done, String detail) {}

  /** A look at the cluster. */
  interface Condition {
    Progress check() throws IOException;
  }

  private final DemoConsole console;
  private final Path logs;

  ProgressWait(DemoConsole console, Path logs) {
    this.console = console;
    this.logs = logs;
  }

  /**
   * Returns once the condition is met.
   *
   * @throws DemoException if it is not met within the limit
   */
  void await(String what, Duration limit, Condition condition)
      throws IOException, InterruptedException {
    awaitQuiet(what, limit, Duration.ZERO, condition);
  }

  /**
   * Returns once the condition has been met without a break for the quiet time.
   *
   * @throws DemoException if that does not come about within the limit
   */
  void awaitQuiet(String what, Duration limit, Duration quiet, Condition condition)
      throws IOException, InterruptedException {
    Progress last = poll(what, limit, quiet, condition);
    if (!last.done) {
      throw new DemoException(
          "%s did not end within %d s: %s. The logs are in %s"
              .formatted(what, limit.toSeconds(), last.detail, logs));
    }
  }

  /** Returns once the condition is met, or after the limit. */
  void awaitAtMost(String what, Duration limit, Condition condition)
      throws IOException, InterruptedException {
    poll(what, limit, Duration.ZERO, condition);
  }

  private Progress poll(String what, Duration limit, Duration quiet, Condition condition)
      throws IOException, InterruptedException {
    AtomicReference<Progress> last = new AtomicReference<>();
    Optional<String> objection =
        ConditionWaiter.within(limit.toMillis())
            .every(POLL_MILLIS)
            .quietFor(quiet.toMillis())
            .reporting((elapsed, still) -> console.progress(what, elapsed, limit.toMillis(), still))
            .objection(
                () -> {
                  last.set(condition.check());
                  return last.get().done ? null : last.get().detail;
                });
    console.line("   %s: %s", what, last.get().detail);
    return new Progress(objection.isEmpty(), last.get().detail);
  }
}
