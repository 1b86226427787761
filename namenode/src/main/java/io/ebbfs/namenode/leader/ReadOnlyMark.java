package io.ebbfs.namenode.leader;

import java.io.IOException;

/** What other namenodes know of the safe mode that an operator enters. Thread-safe. */
public interface ReadOnlyMark {
  /** Of a namenode that has its store alone. */
  ReadOnlyMark NONE =
      new ReadOnlyMark() {
        @Override
        public boolean isSet() {
          return false;
        }

        @Override
        public void set(boolean readOnly) {
          // Nobody else needs to know.
        }
      };

  /** Whether an operator has entered safe mode at this namenode or at an earlier leader. */
  boolean isSet();

  /** Returns when no other namenode begins a change any more, or at once if they may. */
  void set(boolean readOnly) throws IOException;
}
