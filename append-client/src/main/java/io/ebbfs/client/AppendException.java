package io.ebbfs.client;

import java.io.IOException;

/** Records cannot be appended, and another attempt does not help. */
public final class AppendException extends IOException {
  private static final long serialVersionUID = 1;

  AppendException(String message) {
    super(message);
  }

  AppendException(String message, Throwable cause) {
    super(message, cause);
  }
}
