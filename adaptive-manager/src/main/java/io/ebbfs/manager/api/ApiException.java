package io.ebbfs.manager.api;

/** A request that cannot be answered. The answer is a JSON error with message and remedy. */
final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String remedy;

  ApiException(int status, String message, String remedy) {
    super(message);
    this.status = status;
    this.remedy = remedy;
  }

  int status() {
    return status;
  }

  String remedy() {
    return remedy;
  }
}
