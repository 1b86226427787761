package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScanCursorTest {
  private static final String SETTING = "someScan";
  private static final int LIMIT = 10;

  @TempDir Path directory;
  private final ManualClock clock = new ManualClock();
  private MetadataStore store;

  @BeforeEach
  void openStore() throws IOException {
    store = RocksDbStore.open(directory.resolve("store"));
  }

  @AfterEach
  void closeStore() throws IOException {
    store.close();
  }

  private ScanCursor opened() throws IOException {
    ScanCursor cursor = new ScanCursor(store, SETTING, clock);
    cursor.open();
    return cursor;
  }

  private static List<Row<CounterRow>> rows(long first, int count) {
    return LongStream.range(first, first + count)
        .mapToObj(id -> new Row<>(Key.of(id), CounterRow.newBuilder().setValue(id).build()))
        .toList();
  }

  private void write(String text) throws IOException {
    Key key = Tables.named(SETTING);
    store.transact(
        key.partition(),
        t -> {
          t.put(Tables.SETTING, key, SettingRow.newBuilder().setValue(text).build());
          return null;
        });
  }

  @Test
  void aDamagedRowHasTheScanBeginAnew() throws IOException {
    MetadataStore damaged =
        (MetadataStore)
            Proxy.newProxyInstance(
                MetadataStore.class.getClassLoader(),
                new Class<?>[] {MetadataStore.class},
                (proxy, method, arguments) -> {
                  throw new CorruptRowException("as ordered", null);
                });
    ScanCursor cursor = new ScanCursor(damaged, SETTING, clock);
    cursor.open();
    assertThat(cursor.isUnderWay()).isFalse();
    cursor.begin();
    assertThat(cursor.after()).isNull();
  }

  @Test
  void aProcessHasVisitedAllAfterAsManyRowsAsThePassBefore() throws IOException {
    ScanCursor cursor = opened();
    cursor.begin();
    cursor.visited(rows(1, LIMIT), LIMIT);
    assertThat(cursor.hasVisitedAll()).as("no pass has ended").isFalse();
    cursor.visited(rows(1 + LIMIT, 2), LIMIT);
    assertThat(cursor.hasVisitedAll()).isTrue();
    cursor.save();

    cursor = opened();
    assertThat(cursor.progress().completedMillis()).isPresent();
    assertThat(cursor.hasVisitedAll()).isFalse();
    cursor.begin();
    cursor.visited(rows(1, LIMIT), LIMIT);
    assertThat(cursor.hasVisitedAll()).isFalse();
    cursor.visited(rows(1 + LIMIT, 2), LIMIT);
    assertThat(cursor.hasVisitedAll()).isTrue();
  }

  @Test
  void theNextProcessGoesOnWithThePassAndItsCounts() throws IOException {
    ScanCursor cursor = opened();
    assertThat(cursor.isUnderWay()).isFalse();
    cursor.begin();
    cursor.count("a disk");
    cursor.visited(rows(1, LIMIT), LIMIT);
    cursor.save();
    assertThat(cursor.counted("a disk")).as("the pass is under way").isEmpty();
    store.close();
    openStore();
    clock.advance(5_000);

    ScanCursor next = opened();
    assertThat(next.isUnderWay()).isTrue();
    assertThat(next.after()).isEqualTo(Key.of(LIMIT));
    next.count("a disk");
    next.visited(rows(1 + LIMIT, 4), LIMIT);
    assertThat(next.isUnderWay()).isFalse();
    assertThat(next.counted("a disk")).hasValue(2);
    assertThat(next.progress())
        .isEqualTo(
            new ScanCursor.Progress(
                clock.millis() - 5_000, 14, OptionalLong.of(clock.millis()), 14));
    next.save();
    assertThat(opened().counted("a disk")).hasValue(2);
    assertThat(opened().progress().rows()).isEqualTo(14);
  }

  @Test
  void theLastCountsStayUntilTheNextPassHasEnded() throws IOException {
    ScanCursor cursor = opened();
    cursor.begin();
    cursor.count("a disk");
    cursor.visited(rows(1, 1), LIMIT);
    cursor.begin();
    cursor.visited(rows(1, LIMIT), LIMIT);
    cursor.save();
    assertThat(opened().counted("a disk")).hasValue(1);
    ScanCursor next = opened();
    next.visited(rows(11, 0), LIMIT);
    assertThat(next.counted("a disk")).as("the second pass has found none").isEmpty();
  }

  @Test
  void theCursorIsWrittenAtMostOnceAMinute() throws IOException {
    ScanCursor cursor = opened();
    cursor.begin();
    cursor.visited(rows(1, LIMIT), LIMIT);
    cursor.save();
    cursor.visited(rows(11, LIMIT), LIMIT);
    clock.advance(59_999);
    cursor.save();
    assertThat(opened().after()).isEqualTo(Key.of(10));
    clock.advance(1);
    cursor.save();
    assertThat(opened().after()).isEqualTo(Key.of(20));
  }

  @Test
  void aWriteThatFailsIsRepeated() throws IOException {
    FailingStore failing = new FailingStore(store);
    ScanCursor cursor = new ScanCursor(failing.store(), SETTING, clock);
    cursor.open();
    cursor.begin();
    cursor.visited(rows(1, LIMIT), LIMIT);
    failing.failNext(1);
    assertThatThrownBy(cursor::save).isInstanceOf(RetriableException.class);
    cursor.save();
    assertThat(opened().after()).isEqualTo(Key.of(10));
  }

  @Test
  void aTextThatCannotBeReadBeginsTheScanAnew() throws IOException {
    for (String text : List.of("nonsense", "", "after: \"abc\"", "laterField: 7")) {
      write(text);
      ScanCursor cursor = opened();
      assertThat(cursor.isUnderWay()).as(text).isFalse();
      assertThat(cursor.after()).as(text).isNull();
      assertThat(cursor.progress().completedMillis()).as(text).isEmpty();
    }
  }
}
