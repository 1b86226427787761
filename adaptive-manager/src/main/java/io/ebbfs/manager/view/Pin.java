package io.ebbfs.manager.view;

import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.util.Locale;

/**
 * The code that a user asks for: the attribute user.ebbfs.pin of a file or a directory above it.
 */
public enum Pin {
  /** Reads decide. */
  NONE,
  FAST,
  COMPACT,
  /** The file is not encoded. */
  REPLICAS;

  public static Pin of(boolean isSet, PinProto pin) {
    return isSet ? valueOf(pin.name()) : NONE;
  }

  /** As users write it: fast, compact, replicas or none. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Only for a pin that is set. */
  PinProto message() {
    return PinProto.valueOf(name());
  }
}
