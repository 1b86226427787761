package io.ebbfs.manager.api;

import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.schedule.History;
import java.nio.ByteBuffer;
import java.util.List;

/** The answers of /history. */
final class HistoryAnswers {
  private final ManagerState manager;

  HistoryAnswers(ManagerState manager) {
    this.manager = manager;
  }

  /** nextCursor is null on the last page. */
  record Entries(List<History.Entry> entries, String nextCursor) {}

  Entries history(Query query) {
    int limit = (int) query.number("limit", 100, 1, 1_000);
    History.Page page = manager.evaluator().history().page(before(query.cursor()), limit);
    ManagerStore.HistoryRow next = page.next();
    return new Entries(
        page.entries(),
        next == null
            ? null
            : Query.encode(
                ByteBuffer.allocate(16).putLong(next.timeMillis()).putLong(next.number()).array()));
  }

  private static ManagerStore.HistoryRow before(byte[] cursor) {
    if (cursor == null) {
      return null;
    }
    if (cursor.length != 16) {
      throw new ApiException(
          400, "the cursor belongs to another query", "keep all parameters as they were");
    }
    ByteBuffer key = ByteBuffer.wrap(cursor);
    return new ManagerStore.HistoryRow(key.getLong(), key.getLong(), "");
  }
}
