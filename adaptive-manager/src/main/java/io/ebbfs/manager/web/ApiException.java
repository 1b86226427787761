package io.ebbfs.manager.web;

/** A request that cannot be answered; becomes a JSON error with message and remedy. */
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
