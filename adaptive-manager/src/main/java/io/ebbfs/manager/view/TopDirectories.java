package io.ebbfs.manager.view;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongUnaryOperator;

/** Finds those of some directories that lie below no other one of them. Pure functions. */
final class TopDirectories {
  private static final long NONE = InodeListener.NO_INODE;

  private TopDirectories() {}

  /**
   * The directories that have no other one above them. Directories that were read at different
   * times may form a circle; then one of the circle is among them. Each directory above is looked
   * at once.
   *
   * @param parentOf gives the directory that a directory is in; {@link InodeListener#NO_INODE} for
   *     what is not known
   */
  static Set<Long> of(Set<Long> directories, LongUnaryOperator parentOf) {
    Map<Long, Long> topOf = new HashMap<>();
    Set<Long> tops = new LinkedHashSet<>();
    for (long directory : directories) {
      List<Long> chain = new ArrayList<>();
      long at = directory;
      while (at != NONE && !topOf.containsKey(at)) {
        topOf.put(at, NONE); // a circle ends here
        chain.add(at);
        at = parentOf.applyAsLong(at);
      }
      long top = at == NONE ? NONE : topOf.get(at);
      int circle = chain.indexOf(at); // -1: the chain ends at a directory that is known, or not
      for (int i = chain.size() - 1; i >= 0; i--) {
        if (top == NONE && directories.contains(chain.get(i))) {
          top = chain.get(i);
          tops.add(top);
          if (circle >= 0 && i >= circle) { // the rest of the circle is below it, too
            for (int j = i + 1; j < chain.size(); j++) {
              topOf.put(chain.get(j), top);
            }
          }
        }
        topOf.put(chain.get(i), top);
      }
    }
    return tops;
  }
}
