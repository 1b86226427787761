package io.ebbfs.raid;

/** A configuration that is refused; the message holds one line for each problem. */
public final class RaidConfigException extends Exception {
  RaidConfigException(String message) {
    super(message);
  }

  RaidConfigException(String message, Throwable cause) {
    super(message, cause);
  }
}
