package io.ebbfs.workloads.demo;

/** Something the person who runs the demo has to know; the message is all that is printed. */
public final class DemoException extends RuntimeException {
  private static final long serialVersionUID = 1;

  DemoException(String message) {
    super(message);
  }
}
