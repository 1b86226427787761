package io.ebbfs.namenode.rpc.server;

import io.ebbfs.namenode.store.ClientCall;
import java.io.IOException;
import java.util.concurrent.Executor;
import org.apache.hadoop.ipc.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A call on its way from its frame to its answer. It is answered exactly once. */
final class RpcCall {
  private static final Logger LOG = LoggerFactory.getLogger(RpcCall.class);

  private static final int OWN_BYTES = 500;

  private final RpcConnection connection;
  private final CurrentCall caller;
  private final RequestHeader header;
  private final RpcMethod method;
  private final byte[] frame;
  private final int offset;
  private final int length;

  /**
   * @param frame the bytes of the request are {@code length} bytes from {@code offset}
   */
  RpcCall(
      RpcConnection connection,
      CurrentCall caller,
      RequestHeader header,
      RpcMethod method,
      byte[] frame,
      int offset,
      int length) {
    this.connection = connection;
    this.caller = caller;
    this.header = header;
    this.method = method;
    this.frame = frame;
    this.offset = offset;
    this.length = length;
  }

  RequestHeader header() {
    return header;
  }

  RpcMethod method() {
    return method;
  }

  CurrentCall caller() {
    return caller;
  }

  /** What the call takes of the server's memory while it is under way. */
  int heldBytes() {
    return frame.length + OWN_BYTES;
  }

  /** Runs the call in this thread, and returns the bytes of its result. */
  byte[] run() throws IOException {
    return run(() -> method.handler().answer(frame, offset, length));
  }

  /** Runs the rest of the call in this thread, and returns the bytes of its result. */
  byte[] run(LaterException.Rest rest) throws IOException {
    CurrentCall.set(caller);
    try {
      return ClientCall.run(method.once() ? once() : null, rest::run);
    } finally {
      CurrentCall.clear();
    }
  }

  /** The call for the row that says that the call has taken effect; null without a client id. */
  private ClientCall once() {
    return ClientCall.of(
            header.clientId(),
            header.callId(),
            caller.user().name(),
            Math.max(0, header.retryCount()))
        .orElse(null);
  }

  /** Runs tasks after the event loop of the connection has read all that has come. */
  Executor turnEnd() {
    return connection.turnEnd();
  }

  void succeed(byte[] result) {
    connection.answer(this, AnswerFrame.success(header, result));
  }

  void fail(Throwable failure) {
    if (AnswerFrame.isUnexpected(failure)) {
      LOG.warn(
          "call {} of {} at {} failed", method.name(), caller.user(), caller.address(), failure);
    } else {
      // The client hears of its mistake; a log of the mistakes of all clients would slow the loops.
      LOG.debug(
          "call {} of {} at {}: {}: {}",
          method.name(),
          caller.user(),
          caller.address(),
          AnswerFrame.nameOf(failure),
          failure.getMessage());
    }
    connection.answer(this, AnswerFrame.error(header, failure));
  }

  /** Asks the client to repeat the call later. */
  void refuse() {
    connection.answer(
        this,
        AnswerFrame.refusal(
            header,
            new RetriableException(
                "the server has too many calls waiting; repeat the call in a moment")));
  }
}
