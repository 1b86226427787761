package io.ebbfs.namespace.store;

import java.io.IOException;

/** A store directory that cannot be opened; the message says why and what to do. */
public final class StoreOpenException extends IOException {
  private static final long serialVersionUID = 1;

  public StoreOpenException(String message, Throwable cause) {
    super(message, cause);
  }
}
