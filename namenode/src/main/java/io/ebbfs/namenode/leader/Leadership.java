package io.ebbfs.namenode.leader;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.LeaderRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.apache.hadoop.ipc.StandbyException;

/**
 * The election of one leader among the processes of a shared store. The leader's row holds its
 * name, its term and a beat that grows with each renewal. A process that sees the row stand still
 * for the time-out, by its own clock, takes over with the next term. The leader counts from before
 * its last renewal, and for a shorter time, so that it stops before another begins, as long as all
 * clocks run about equally fast. No clock needs to be right.
 *
 * <p>{@link #tick} is called by one thread, the other methods by any.
 */
public final class Leadership {
  private static final Key KEY = Tables.named("namenode");

  /** For so many time-outs a process that cannot lead leaves the leadership to others. */
  private static final int ASIDE_TIMEOUTS = 5;

  private final MetadataStore store;
  private final String self;
  private final String address;
  private final LeaderTimes times;
  private final LongSupplier nanoClock;

  private volatile LeaderRow seen;
  private volatile long readNanos;
  private volatile long endedTerm;
  private long seenSince;
  private volatile Held held;
  private volatile long asideUntilNanos;
  private volatile boolean aside;

  /** A leadership of this process, until a moment of its clock. */
  private record Held(long term, long untilNanos) {}

  /**
   * A process that may become the leader.
   *
   * @param self a name that no other process has or had
   * @param address of this process, for people
   * @param nanoClock a clock that never goes back, in nanoseconds
   */
  public Leadership(
      MetadataStore store, String self, String address, LeaderTimes times, LongSupplier nanoClock) {
    this.store = store;
    this.self = self;
    this.address = address;
    this.times = times;
    this.nanoClock = nanoClock;
  }

  /** Whether this process leads now. */
  public boolean holds() {
    Held now = held;
    return now != null && nanoClock.getAsLong() - now.untilNanos() < 0;
  }

  /** The term of the last leadership of this process; 0 if it never led. */
  public long term() {
    Held last = held;
    return last == null ? 0 : last.term();
  }

  /**
   * Lets another process lead, because this one cannot: {@link #tick} gives the leadership up and
   * takes none for a while. Any thread may call this.
   */
  public void standAside() {
    asideUntilNanos = nanoClock.getAsLong() + ASIDE_TIMEOUTS * times.timeoutNanos();
    aside = true;
  }

  private boolean isAside(long now) {
    if (aside && now - asideUntilNanos >= 0) {
      aside = false;
    }
    return aside;
  }

  /** Renews the leadership, or takes over if that is due. To be called once per renewal time. */
  public void tick() throws IOException {
    long began = nanoClock.getAsLong();
    Optional<LeaderRow> row =
        store.transact(KEY.partition(), transaction -> transaction.get(Tables.LEADER, KEY));
    readNanos = began;
    boolean isOurs = row.isPresent() && isOurs(row.get());
    boolean standsAside = isAside(began);
    if (isOurs && standsAside) {
      resign();
      return;
    }
    // Nobody else can lead either, if the row is free for long.
    boolean mayTake = !standsAside || began - seenSince >= 2 * times.timeoutNanos();
    if (isOurs || isFree(row, began) && mayTake) {
      Optional<LeaderRow> written =
          store.transact(KEY.partition(), transaction -> take(transaction, row));
      if (written.isPresent()) {
        held = new Held(written.get().getTerm(), began + times.holdNanos());
        see(written.get(), began);
        return;
      }
    }
    if (!isOurs && held != null) {
      held = new Held(held.term(), began);
    }
  }

  private boolean isOurs(LeaderRow row) {
    return row.getHolder().equals(self) && !row.getResigned();
  }

  private boolean isFree(Optional<LeaderRow> row, long now) {
    if (row.isEmpty() || row.get().getResigned()) {
      return true;
    }
    if (!row.get().equals(seen)) {
      // The leader may have written the row at the very end of the read, which may have taken long.
      see(row.get(), nanoClock.getAsLong());
    }
    if (row.get().getTerm() == endedTerm && now - seenSince >= times.endedNanos()) {
      return true;
    }
    return now - seenSince >= times.timeoutNanos();
  }

  private void see(LeaderRow row, long now) {
    seen = row;
    seenSince = now;
  }

  /** The new row, unless another process has changed the row. */
  private Optional<LeaderRow> take(Transaction transaction, Optional<LeaderRow> expected)
      throws IOException {
    transaction.lock(List.of(RowLock.exclusive(Tables.LEADER, KEY)));
    Optional<LeaderRow> found = transaction.get(Tables.LEADER, KEY);
    if (!found.equals(expected)) {
      return Optional.empty();
    }
    boolean renewal = found.isPresent() && isOurs(found.get());
    LeaderRow written =
        LeaderRow.newBuilder()
            .setHolder(self)
            .setAddress(address)
            .setTerm(found.map(LeaderRow::getTerm).orElse(0L) + (renewal ? 0 : 1))
            .setBeat(renewal ? found.get().getBeat() + 1 : 0)
            .setReadOnly(found.map(LeaderRow::getReadOnly).orElse(false))
            .build();
    transaction.put(Tables.LEADER, KEY, written);
    return Optional.of(written);
  }

  /**
   * Gives the leadership up, so that another process may take over at once. Called by the thread of
   * {@link #tick}.
   */
  public void resign() throws IOException {
    held = held == null ? null : new Held(held.term(), nanoClock.getAsLong());
    store.transact(
        KEY.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.LEADER, KEY)));
          Optional<LeaderRow> found = transaction.get(Tables.LEADER, KEY);
          if (found.isPresent() && isOurs(found.get())) {
            transaction.put(Tables.LEADER, KEY, found.get().toBuilder().setResigned(true).build());
          }
          return null;
        });
  }

  /**
   * Notes that the process that leads in a term has ended: its machine refuses connections at its
   * address. If the row stands still, too, {@link #tick} does not wait for the time-out. Any thread
   * may call this.
   */
  public void noteEnd(Leader leader) {
    endedTerm = leader.term();
  }

  /**
   * Whether the process that leads seems to have ended, so that {@link #tick} may soon take over.
   */
  public boolean hasLeaderEnded() {
    LeaderRow row = seen;
    return row != null && row.getTerm() == endedTerm && !holds();
  }

  /** Whether files may be changed, as far as a process knows. */
  public enum Changes {
    ALLOWED,
    /** An operator has entered safe mode. */
    REFUSED,
    /** The process has not read the leader's row for the time-out. */
    UNKNOWN
  }

  /** Whether files may be changed. Any thread may call this. */
  public Changes changes() {
    LeaderRow row = seen;
    if (row == null || nanoClock.getAsLong() - readNanos > times.timeoutNanos()) {
      return Changes.UNKNOWN;
    }
    return row.getReadOnly() ? Changes.REFUSED : Changes.ALLOWED;
  }

  /** Whether the row that this process has read or written last has the mark of safe mode. */
  public boolean isReadOnly() {
    LeaderRow row = seen;
    return row != null && row.getReadOnly();
  }

  /**
   * Lets all processes know whether files may be changed. They know after the time-out at the
   * latest, or know that they do not know. Any thread may call this.
   *
   * @throws StandbyException if this process does not lead
   */
  public void setReadOnly(boolean readOnly) throws IOException {
    boolean written =
        store.transact(
            KEY.partition(),
            transaction -> {
              transaction.lock(List.of(RowLock.exclusive(Tables.LEADER, KEY)));
              Optional<LeaderRow> found = transaction.get(Tables.LEADER, KEY).filter(this::isOurs);
              found.ifPresent(
                  row ->
                      transaction.put(
                          Tables.LEADER, KEY, row.toBuilder().setReadOnly(readOnly).build()));
              return found.isPresent();
            });
    if (!written) {
      throw new StandbyException("this namenode does not lead any more");
    }
  }

  /** A process that leads, and the term in which it does. */
  public record Leader(String address, long term) {}

  /** The leader that the last {@link #tick} has seen, unless this process is that leader. */
  public Optional<Leader> otherLeader() {
    return Optional.ofNullable(seen)
        .filter(row -> !row.getHolder().equals(self) && !row.getResigned())
        .map(row -> new Leader(row.getAddress(), row.getTerm()));
  }

  /** The address of the leader that the last {@link #tick} has seen, if it has seen one. */
  public Optional<String> leader() {
    return Optional.ofNullable(seen).map(LeaderRow::getAddress);
  }
}
