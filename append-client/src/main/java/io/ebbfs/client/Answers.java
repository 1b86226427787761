package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto.Result;
import java.util.Optional;

/** Takes the answers of one lane. Thread-safe. */
final class Answers {
  private final PendingBatches batches;
  private BatchAnswerProto end;
  private boolean shared;

  Answers(PendingBatches batches) {
    this.batches = batches;
  }

  void take(BatchAnswerProto answer) {
    if (answer.getResult() == Result.STORED) {
      batches.stored(answer.getFirstRecord());
      return;
    }
    synchronized (this) {
      if (answer.getResult() == Result.IN_USE) {
        shared = true;
      } else {
        end = answer;
      }
      notifyAll();
    }
    batches.wake();
  }

  /** The answer that ended the lane. */
  synchronized Optional<BatchAnswerProto> end() {
    return Optional.ofNullable(end);
  }

  /** Waits for the answer to a request to finish. True if others use the lane. */
  synchronized boolean awaitEndOrShared() throws InterruptedException {
    while (end == null && !shared) {
      wait();
    }
    return end == null;
  }
}
