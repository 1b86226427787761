package io.ebbfs.verify.histories;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a client was told.
 *
 * @param seen the nodes by name: what a stat or a list saw, and the file that a create made, under
 *     the empty name
 */
record Answer(Kind kind, SortedMap<String, Node> seen) {
  enum Kind {
    DONE,
    /** The call has had no effect, because the paths did not permit it. */
    REFUSED,
    /** The file is open elsewhere: the call has had no effect, whatever the tree looks like. */
    BUSY
  }

  static final Answer DONE = new Answer(Kind.DONE, new TreeMap<>());
  static final Answer REFUSED = new Answer(Kind.REFUSED, new TreeMap<>());
  static final Answer BUSY = new Answer(Kind.BUSY, new TreeMap<>());

  static Answer saw(Map<String, Node> nodes) {
    return new Answer(Kind.DONE, new TreeMap<>(nodes));
  }

  static Answer made(long id) {
    return saw(Map.of("", Node.file(id)));
  }

  /** Whether both may be the answer to the same call at the same moment. */
  boolean agreesWith(Answer other) {
    return kind == other.kind
        && seen.keySet().equals(other.seen.keySet())
        && seen.entrySet().stream()
            .allMatch(entry -> entry.getValue().agreesWith(other.seen.get(entry.getKey())));
  }

  @Override
  public String toString() {
    String name = kind.name().toLowerCase(java.util.Locale.ROOT);
    return seen.isEmpty() ? name : name + " " + seen;
  }
}
