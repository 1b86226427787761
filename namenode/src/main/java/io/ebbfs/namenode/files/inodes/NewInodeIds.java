package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.StaleReadException;
import java.io.IOException;
import java.util.Iterator;
import java.util.stream.LongStream;

/**
 * The ids of the inodes that one call makes. A transaction must not draw ids, so they are drawn
 * before the transaction, which learns how many inodes are missing. Most calls make one inode; a
 * call that makes more runs its transaction again with enough ids. Used by one thread.
 */
public final class NewInodeIds {
  private final IdGenerator generator;
  private int drawn;
  private int wanted = 1;
  private long first;

  public NewInodeIds(IdGenerator generator) {
    this.generator = generator;
  }

  /** Draws the ids that the next run of the transaction needs, outside of the transaction. */
  public void draw() throws IOException {
    if (drawn < wanted) {
      first = generator.nextRun(wanted);
      drawn = wanted;
    }
  }

  /**
   * The ids of some inodes, in the transaction.
   *
   * @throws StaleReadException if fewer ids are drawn; the next {@link #draw} draws enough
   */
  public Iterator<Long> take(int inodes) throws StaleReadException {
    if (inodes > drawn) {
      wanted = inodes;
      throw new StaleReadException(inodes + " inodes are missing");
    }
    return LongStream.range(first, first + inodes).iterator();
  }
}
