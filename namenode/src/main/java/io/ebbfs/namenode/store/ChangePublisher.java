package io.ebbfs.namenode.store;

import java.io.InterruptedIOException;

/** Tells the followers of the change stream what was changed. Thread-safe. */
public interface ChangePublisher {
  /** Tells nobody. */
  ChangePublisher NONE =
      new ChangePublisher() {
        @Override
        public boolean publish(ChangedIds ids) {
          return false;
        }

        @Override
        public void publishMark(String mark) {}
      };

  /**
   * Publishes ids that are committed. Waits for the acknowledgement, but only for a bounded time.
   *
   * @return whether it was acknowledged
   * @throws InterruptedIOException if the thread was interrupted meanwhile
   */
  boolean publish(ChangedIds ids) throws InterruptedIOException;

  /**
   * Publishes a mark behind all that was published before, if that is possible. Waits for nobody.
   */
  void publishMark(String mark);
}
