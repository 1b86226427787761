package io.ebbfs.protocol.words;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;

/**
 * The kinds of transitions in words for people: logs, messages and the demo use these. UPCODE and
 * DOWNCODE are the names on the wire, after HACFS.
 */
public final class TransitionKinds {
  private TransitionKinds() {}

  /** The name of a kind, such as "conversion to compact" for UPCODE. */
  public static String show(TransitionKindProto kind) {
    return switch (kind) {
      case ENCODE -> "encoding";
      case UPCODE -> "conversion to compact";
      case DOWNCODE -> "conversion to fast";
      case REPAIR -> "repair";
      case REWRITE -> "rewrite";
      case MOVE -> "re-placement";
      case SUBTRACT -> "subtraction";
      case RELEASE -> "release to replicas";
    };
  }
}
