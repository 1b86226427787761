package io.ebbfs.manager.view;

import java.util.function.LongUnaryOperator;

/**
 * Hears in which directory each inode of the view is. The view calls it while it is locked, and
 * before it commits what it has changed: after a crash in between, the listener hears the same
 * again. A listener must not call the view.
 */
public interface InodeListener {
  /** The id of no inode. */
  long NO_INODE = 0;

  /** The id of "/", which the view has no row for. */
  long ROOT = 16_385;

  /** Hears nothing. */
  InodeListener NONE =
      new InodeListener() {
        @Override
        public void entered(long id, long directory, LongUnaryOperator directoryOf) {}

        @Override
        public void left(long id) {}

        @Override
        public boolean catchUp(int most, LongUnaryOperator directoryOf) {
          return false;
        }
      };

  /**
   * A file or directory is in a directory now.
   *
   * @param directoryOf gives the directory that an inode of the view is in, by their ids; {@link
   *     #NO_INODE} for "/", and for what the view does not know
   */
  void entered(long id, long directory, LongUnaryOperator directoryOf);

  /** A file or directory is gone. */
  void left(long id);

  /**
   * Asks for the directories of inodes that the listener does not know yet: of so many at most.
   *
   * @return whether there are more of them
   */
  boolean catchUp(int most, LongUnaryOperator directoryOf);
}
