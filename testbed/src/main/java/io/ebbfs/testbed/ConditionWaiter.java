package io.ebbfs.testbed;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Asks for a condition again and again, until it holds or a deadline has passed. Immutable.
 *
 * <p>A condition answers with its objection: what is still going on, for example "transition 12
 * ENCODE is RUNNING", or null once it holds. The last objection is told when the time runs out.
 */
public final class ConditionWaiter {
  private static final long POLL_MILLIS = 50;

  private final long timeoutMillis;
  private final long pollMillis;
  private final long quietMillis;
  private final Progress progress;

  /** Tells what still keeps a condition from being true; null if nothing does. */
  public interface Objection<E extends Exception> {
    String now() throws E, InterruptedException;
  }

  /** Hears each objection, with the time since the wait began. */
  public interface Progress {
    void waiting(long elapsedMillis, String objection);
  }

  private ConditionWaiter(
      long timeoutMillis, long pollMillis, long quietMillis, Progress progress) {
    this.timeoutMillis = timeoutMillis;
    this.pollMillis = pollMillis;
    this.quietMillis = quietMillis;
    this.progress = progress;
  }

  /** Waits no longer than this. */
  public static ConditionWaiter within(long timeoutMillis) {
    return new ConditionWaiter(timeoutMillis, POLL_MILLIS, 0, (elapsed, objection) -> {});
  }

  /** Asks at this interval instead of every 50 ms. */
  public ConditionWaiter every(long millis) {
    return new ConditionWaiter(timeoutMillis, millis, quietMillis, progress);
  }

  /** The condition must hold without a break for this long. */
  public ConditionWaiter quietFor(long millis) {
    return new ConditionWaiter(timeoutMillis, pollMillis, millis, progress);
  }

  /** Reports each objection. */
  public ConditionWaiter reporting(Progress to) {
    return new ConditionWaiter(timeoutMillis, pollMillis, quietMillis, to);
  }

  /**
   * Waits for a condition. The condition is asked at least once.
   *
   * @return the last objection if the time ran out; empty if the condition holds
   */
  public <E extends Exception> Optional<String> objection(Objection<E> condition)
      throws E, InterruptedException {
    long start = System.nanoTime();
    long quietSince = -1;
    while (true) {
      String objection = condition.now();
      long elapsed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      if (objection != null) {
        quietSince = -1;
      } else {
        quietSince = quietSince < 0 ? elapsed : quietSince;
        if (elapsed - quietSince >= quietMillis) {
          return Optional.empty();
        }
        objection = "quiet for %d ms of %d".formatted(elapsed - quietSince, quietMillis);
      }
      if (elapsed >= timeoutMillis) {
        return Optional.of(objection);
      }
      progress.waiting(elapsed, objection);
      Thread.sleep(pollMillis);
    }
  }

  /**
   * Waits for a condition.
   *
   * @param what names the condition in the error, for example "the repair of server 3"
   * @throws IOException with the last objection if the time ran out
   */
  public <E extends Exception> void until(String what, Objection<E> condition)
      throws E, IOException, InterruptedException {
    Optional<String> objection = objection(condition);
    if (objection.isPresent()) {
      throw new IOException(message(what, objection.get()));
    }
  }

  /** The error for a condition that did not come true in time. */
  public String message(String what, String objection) {
    return "%s did not come about within %d s: %s"
        .formatted(what, TimeUnit.MILLISECONDS.toSeconds(timeoutMillis), objection);
  }
}
