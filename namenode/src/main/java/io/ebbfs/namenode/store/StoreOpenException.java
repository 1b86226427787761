package io.ebbfs.namenode.store;

import java.io.IOException;

/** A store cannot be opened; the message names the directory, the reason and a remedy. */
public final class StoreOpenException extends IOException {
  private static final long serialVersionUID = 1;

  public StoreOpenException(String message, Throwable cause) {
    super(message, cause);
  }
}
