package io.ebbfs.verify.histories;

import io.ebbfs.verify.histories.Call.Verb;
import java.util.List;
import java.util.Random;

/** Random calls on so few paths that clients meet. Used by one thread. */
final class CallSource {
  private static final List<String> PATHS = List.of("a", "b", "d", "d/a", "d/b", "e", "e/a");
  private static final List<String> DIRECTORIES = List.of("", "d", "e");

  private final Random random;

  CallSource(Random random) {
    this.random = random;
  }

  Call next() {
    int choice = random.nextInt(100);
    if (choice < 22) {
      return Call.of(Verb.CREATE, any(PATHS));
    }
    if (choice < 30) {
      return Call.of(Verb.MKDIRS, any(PATHS));
    }
    if (choice < 50) {
      return new Call(choice < 44 ? Verb.RENAME : Verb.RENAME_OVER, any(PATHS), any(PATHS));
    }
    if (choice < 65) {
      return Call.of(Verb.DELETE, any(PATHS));
    }
    if (choice < 70) {
      return Call.of(Verb.OPEN, any(PATHS));
    }
    return choice < 85 ? Call.of(Verb.STAT, any(PATHS)) : Call.of(Verb.LIST, any(DIRECTORIES));
  }

  /** Calls that see all that a round has left. */
  static List<Call> everything() {
    return DIRECTORIES.stream().map(path -> Call.of(Verb.LIST, path)).toList();
  }

  private String any(List<String> from) {
    return from.get(random.nextInt(from.size()));
  }
}
