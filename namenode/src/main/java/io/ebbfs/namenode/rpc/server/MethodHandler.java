package io.ebbfs.namenode.rpc.server;

import java.io.IOException;

/** Answers the calls of one method. Thread-safe. */
@FunctionalInterface
public interface MethodHandler {
  /**
   * @param frame the bytes of the request are {@code length} bytes from {@code offset}
   * @return the bytes of the answer
   * @throws IOException with the class and message for the caller
   * @throws LaterException if the answer depends on an event that has not happened yet
   */
  byte[] answer(byte[] frame, int offset, int length) throws IOException;
}
