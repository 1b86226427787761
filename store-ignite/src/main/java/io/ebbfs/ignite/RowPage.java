package io.ebbfs.ignite;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.ignite.Ignite;
import org.apache.ignite.lang.IgniteRunnable;
import org.apache.ignite.resources.IgniteInstanceResource;

/** Rows that a node sends to the process that takes a backup. It runs at that process. */
final class RowPage implements IgniteRunnable {
  private static final long serialVersionUID = 1;

  /** A page is full when its rows have this many bytes. */
  private static final int FULL_BYTES = 1 << 20;

  @IgniteInstanceResource private transient Ignite ignite;
  private final String snapshot;
  private final ArrayList<byte[]> orders = new ArrayList<>();
  private final ArrayList<byte[]> values = new ArrayList<>();
  private int bytes;

  RowPage(String snapshot) {
    this.snapshot = snapshot;
  }

  /** Takes the rows of a backup at the process that takes it. */
  @FunctionalInterface
  interface Receiver {
    /**
     * Takes rows.
     *
     * @param orders what orders each row; see {@link RowId}
     * @param values the rows
     */
    void take(List<byte[]> orders, List<byte[]> values) throws IOException;
  }

  void add(byte[] order, byte[] value) {
    orders.add(order);
    values.add(value);
    bytes += order.length + value.length;
  }

  boolean isFull() {
    return bytes >= FULL_BYTES;
  }

  @Override
  public void run() {
    Receiver receiver = (Receiver) ignite.cluster().nodeLocalMap().get(snapshot);
    if (receiver == null) {
      throw new IllegalStateException("nobody takes the backup " + snapshot + " any more");
    }
    try {
      receiver.take(orders, values);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
