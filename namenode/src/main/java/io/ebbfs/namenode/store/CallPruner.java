package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import java.io.IOException;
import java.time.Clock;
import java.util.List;

/**
 * Deletes the rows of calls that are too old to be repeated. Each tick looks at some pages of the
 * table, and goes on where the last one ended. Used by one thread.
 */
public final class CallPruner {
  /** As long as HDFS remembers calls. */
  private static final long KEEP_MILLIS = 600_000;

  private static final int PAGE = 2_000;
  private static final int MOST_PAGES = 50;

  private final MetadataStore store;
  private final Clock clock;
  private Key after;

  public CallPruner(MetadataStore store, Clock clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Goes on as long as a page has many old rows. To be called about once a second. */
  public void tick() throws IOException {
    int old = PAGE;
    for (int pages = 0; pages < MOST_PAGES && old > PAGE / 10; pages++) {
      old = prunePage();
    }
  }

  private int prunePage() throws IOException {
    List<Row<CallRow>> page = store.scanAll(Tables.CALL, after, PAGE);
    after = page.size() < PAGE ? null : page.get(page.size() - 1).key();
    List<Row<CallRow>> old = page.stream().filter(row -> isOld(row.value())).toList();
    for (Row<CallRow> row : old) {
      delete(row);
    }
    return old.size();
  }

  private boolean isOld(CallRow row) {
    return clock.millis() - row.getMillis() > KEEP_MILLIS;
  }

  /** Unless the slot has got a newer call meanwhile. */
  private void delete(Row<CallRow> row) throws IOException {
    store.transact(
        row.key().partition(),
        Durability.RELAXED,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.CALL, row.key())));
          if (transaction.get(Tables.CALL, row.key()).filter(this::isOld).isPresent()) {
            transaction.delete(Tables.CALL, row.key());
          }
          return null;
        });
  }
}
