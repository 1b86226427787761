package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RowIdTest {
  @Test
  void noTwoTablesHaveTheSameNumber() {
    assertThat(Tables.ALL.stream().map(RowId::numberOf))
        .doesNotHaveDuplicates()
        .doesNotContain((short) -1);
  }

  /** The numbers are in durable keys. */
  @Test
  void numbersOfTablesStay() {
    assertThat(List.of(RowId.numberOf(Tables.INODE), RowId.numberOf(Tables.BLOCK)))
        .isEqualTo(List.of((short) 1797, (short) 22126));
  }

  @Test
  void rowsSortAsTheirKeys() {
    List<Key> sorted =
        Stream.of(0L, 7L, Long.MAX_VALUE, Long.MIN_VALUE, -1L)
            .flatMap(
                partition ->
                    Stream.of(Key.of(partition), Key.of(partition, 0), Key.of(partition, -1L)))
            .toList();
    assertThat(sorted.stream().map(key -> RowId.of(Tables.INODE, key))).isSorted();
    assertThat(sorted.stream().map(key -> RowId.of(Tables.INODE, key).key()))
        .containsExactlyElementsOf(sorted);
  }
}
