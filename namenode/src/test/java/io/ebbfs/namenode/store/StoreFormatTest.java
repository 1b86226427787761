package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreFormatTest {
  private final MetadataStore store = new InMemoryStore();

  private void write(String format) throws IOException {
    store.transact(
        0,
        transaction -> {
          transaction.put(
              Tables.SETTING, StoreFormat.KEY, SettingRow.newBuilder().setValue(format).build());
          return null;
        });
  }

  @Test
  void aStoreWithoutAFormatGetsTheCurrentOne() throws IOException {
    StoreFormat.check(store);
    assertThat(store.scanAll(Tables.SETTING, null, 10))
        .singleElement()
        .satisfies(row -> assertThat(row.value().getValue()).isEqualTo("1"));
    StoreFormat.check(store);
  }

  @Test
  void aStoreWithQuotasHasAFormatThatOlderVersionsRefuse() throws IOException {
    StoreFormat.check(store);
    StoreFormat.raiseToQuotas(store);
    StoreFormat.raiseToQuotas(store);
    assertThat(store.scanAll(Tables.SETTING, null, 10))
        .singleElement()
        .satisfies(row -> assertThat(row.value().getValue()).isEqualTo("2"));
    StoreFormat.check(store);
  }

  @Test
  void aStoreWithReleasesHasAFormatThatOlderVersionsRefuse() throws IOException {
    StoreFormat.check(store);
    StoreFormat.raiseToReleases(store);
    StoreFormat.raiseToReleases(store);
    assertThat(format()).isEqualTo("3");
    StoreFormat.check(store);
  }

  @Test
  void aFormatIsNeverLowered() throws IOException {
    StoreFormat.check(store);
    StoreFormat.raiseToReleases(store);
    StoreFormat.raiseToQuotas(store);
    assertThat(format()).isEqualTo("3");
    StoreFormat.raiseToAcls(store);
    StoreFormat.raiseToReleases(store);
    assertThat(format()).isEqualTo("4");
    write("2");
    StoreFormat.raiseToReleases(store);
    assertThat(format()).isEqualTo("3");
  }

  @Test
  void aStoreWithSnapshotsHasAFormatThatOlderVersionsRefuse() throws IOException {
    StoreFormat.check(store);
    StoreFormat.raiseToSnapshots(store);
    StoreFormat.raiseToAcls(store);
    assertThat(format()).isEqualTo("5");
    StoreFormat.check(store);
  }

  @Test
  void aStoreWithQuotasOfTypesHasAFormatThatOlderVersionsRefuse() throws IOException {
    StoreFormat.check(store);
    StoreFormat.raiseToTypeQuotas(store);
    StoreFormat.raiseToBlockGroups(store);
    assertThat(format()).isEqualTo("7");
    StoreFormat.check(store);
  }

  private String format() throws IOException {
    return store.scanAll(Tables.SETTING, null, 10).get(0).value().getValue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"8", "1234567890123", "", "two"})
  void aStoreOfANewerFormatIsRefused(String format) throws IOException {
    write(format);
    assertThatThrownBy(() -> StoreFormat.check(store))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("format '" + format + "'")
        .hasMessageContaining("a newer one");
    assertThat(store.scanAll(Tables.SETTING, null, 10))
        .singleElement()
        .satisfies(row -> assertThat(row.value().getValue()).isEqualTo(format));
  }
}
