package io.ebbfs.namenode.store;

import java.io.IOException;

/**
 * Raises the format of a store for block groups by the first call that may use them, and by no call
 * that is refused. Stateless.
 */
public final class BlockGroupsFormat {
  private BlockGroupsFormat() {}

  /** Work that may write an erasure coding policy into an inode. */
  @FunctionalInterface
  public interface Work<R> {
    /**
     * Runs the work.
     *
     * @param format to be asked in the transaction that writes a policy, after all checks
     */
    R run(Gate format) throws IOException;
  }

  /** Stops a transaction that would write a policy into a store of an older format. */
  public static final class Gate {
    private boolean isRaised;

    /** Fails if the format is not raised; the work then runs again on the raised format. */
    public void require(Transaction transaction) throws IOException {
      if (!isRaised && !StoreFormat.hasBlockGroups(transaction)) {
        throw new OldFormatException();
      }
    }
  }

  private static final class OldFormatException extends IOException {
    private static final long serialVersionUID = 1;
  }

  /** Runs the work, a second time if only the format of the store stopped it. */
  public static <R> R use(MetadataStore store, Work<R> work) throws IOException {
    Gate gate = new Gate();
    try {
      return work.run(gate);
    } catch (OldFormatException e) {
      StoreFormat.raiseToBlockGroups(store);
      gate.isRaised = true;
      return work.run(gate);
    }
  }
}
