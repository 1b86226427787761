package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.ScanCountProto;
import io.ebbfs.protocol.proto.StoreProtos.ScanProgressProto;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.TextFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far a scan is that visits all rows of a table again and again, a stretch at a time, and what
 * its passes have counted. A pass may take longer than a namenode runs, so the cursor is a setting:
 * the next process goes on where the last one stood. The setting is written at most once a minute.
 * So after the death of a process, a minute of rows is visited twice at most, and counted once.
 *
 * <p>For one thread; {@link #progress} and {@link #counted} are thread-safe.
 */
public final class ScanCursor {
  private static final Logger LOG = LoggerFactory.getLogger(ScanCursor.class);
  private static final long SAVE_MILLIS = 60_000;

  private final MetadataStore store;
  private final String setting;
  private final Key key;
  private final Clock clock;
  private boolean open;
  private boolean underWay;
  private Key after;
  private Map<String, Long> counts = new HashMap<>();
  private boolean saved = true;
  private long savedMillis = Long.MIN_VALUE;
  private volatile long visitedHere;
  private volatile Progress progress = new Progress(0, 0, OptionalLong.empty(), 0);
  private volatile Map<String, Long> lastCounts = Map.of();

  /**
   * How far a scan is.
   *
   * @param startedMillis when the last pass began, 0 if none has
   * @param visited rows that this pass has visited so far
   * @param completedMillis when the last whole pass ended; empty if none has
   * @param rows that the last whole pass has visited
   */
  public record Progress(
      long startedMillis, long visited, OptionalLong completedMillis, long rows) {}

  /**
   * @param setting the name of the row that keeps the cursor
   */
  public ScanCursor(MetadataStore store, String setting, Clock clock) {
    this.store = store;
    this.setting = setting;
    this.key = Tables.named(setting);
    this.clock = clock;
  }

  /**
   * Reads, at the first call, where the scan of an earlier process stood. If the row or its text is
   * damaged, the scan begins anew.
   */
  public void open() throws IOException {
    if (open) {
      return;
    }
    try {
      Optional<SettingRow> row =
          store.transact(key.partition(), Durability.RELAXED, t -> t.get(Tables.SETTING, key));
      row.ifPresent(r -> resume(r.getValue()));
    } catch (CorruptRowException e) {
      LOG.warn("setting '{}' is damaged, the scan begins anew: {}", setting, e.toString());
    }
    open = true;
  }

  private void resume(String text) {
    try {
      resume(TextFormat.parse(text, ScanProgressProto.class));
    } catch (TextFormat.ParseException e) {
      LOG.warn("setting '{}' cannot be read, the scan begins anew: {}", setting, e.toString());
    }
  }

  private void resume(ScanProgressProto known) {
    underWay = known.getAfter().size() >= Long.BYTES;
    if (underWay) {
      after = Key.decode(known.getAfter().toByteArray());
      known.getCountsList().forEach(count -> counts.put(count.getName(), count.getValue()));
    }
    Map<String, Long> last = new HashMap<>();
    known.getLastCountsList().forEach(count -> last.put(count.getName(), count.getValue()));
    lastCounts = last;
    progress =
        new Progress(
            known.getStartedMillis(),
            underWay ? known.getVisited() : 0,
            known.hasCompletedMillis()
                ? OptionalLong.of(known.getCompletedMillis())
                : OptionalLong.empty(),
            known.getRows());
  }

  /** Whether a pass has begun and not ended. */
  public boolean isUnderWay() {
    return underWay;
  }

  /** Begins a pass. */
  public void begin() {
    underWay = true;
    after = null;
    counts = new HashMap<>();
    progress = new Progress(clock.millis(), 0, progress.completedMillis(), progress.rows());
  }

  /** The last row that the pass has visited; null at its begin. */
  public Key after() {
    return after;
  }

  /** Counts one more of what has this name, in the pass under way. */
  public void count(String name) {
    counts.merge(name, 1L, Long::sum);
  }

  /**
   * The rows behind {@link #after} have been visited. A page that is not full ends the pass.
   *
   * @param limit rows of a full page
   */
  public void visited(List<? extends Row<?>> page, int limit) {
    long visited = progress.visited() + page.size();
    visitedHere += page.size();
    if (page.size() < limit) {
      long now = clock.millis();
      underWay = false;
      after = null;
      lastCounts = counts;
      counts = new HashMap<>();
      progress = new Progress(progress.startedMillis(), visited, OptionalLong.of(now), visited);
    } else {
      after = page.get(page.size() - 1).key();
      progress =
          new Progress(
              progress.startedMillis(), visited, progress.completedMillis(), progress.rows());
    }
    saved = false;
  }

  /** Writes the cursor if rows were visited since, and the last write was a minute ago. */
  public void save() throws IOException {
    long now = clock.millis();
    if (saved || savedMillis != Long.MIN_VALUE && now - savedMillis < SAVE_MILLIS) {
      return;
    }
    String text = TextFormat.printer().printToString(message());
    store.transact(
        key.partition(),
        Durability.RELAXED,
        t -> {
          t.lock(List.of(RowLock.exclusive(Tables.SETTING, key)));
          t.put(Tables.SETTING, key, SettingRow.newBuilder().setValue(text).build());
          return null;
        });
    saved = true;
    savedMillis = now;
  }

  private ScanProgressProto message() {
    ScanProgressProto.Builder message =
        ScanProgressProto.newBuilder()
            .setStartedMillis(progress.startedMillis())
            .setVisited(progress.visited())
            .setRows(progress.rows());
    progress.completedMillis().ifPresent(message::setCompletedMillis);
    if (after != null) {
      message.setAfter(ByteString.copyFrom(after.encode()));
      counts.forEach((name, value) -> message.addCounts(count(name, value)));
    }
    lastCounts.forEach((name, value) -> message.addLastCounts(count(name, value)));
    return message.build();
  }

  private static ScanCountProto count(String name, long value) {
    return ScanCountProto.newBuilder().setName(name).setValue(value).build();
  }

  /** How far the scan is. */
  public Progress progress() {
    return progress;
  }

  /** Whether this process has visited as many rows as the last whole pass. */
  public boolean hasVisitedAll() {
    Progress now = progress;
    return now.completedMillis().isPresent() && visitedHere >= now.rows();
  }

  /** What the last whole pass has counted by this name; empty if it has counted none. */
  public OptionalLong counted(String name) {
    Long count = lastCounts.get(name);
    return count == null ? OptionalLong.empty() : OptionalLong.of(count);
  }
}
