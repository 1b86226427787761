package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class IdGeneratorTest {
  private final InMemoryStore store = new InMemoryStore();

  private long reserved() throws IOException {
    Key key = Tables.named("nextBlockId");
    return store
        .transact(key.partition(), transaction -> transaction.get(Tables.COUNTER, key))
        .map(CounterRow::getValue)
        .orElseThrow();
  }

  @Test
  void aProcessThatUsesManyIdsSeldomReserves() throws IOException {
    IdGenerator blocks = IdGenerator.blocks(store);
    long first = blocks.next();
    Set<Long> ends = new HashSet<>();
    for (int i = 1; i < 300_000; i++) {
      assertThat(blocks.next()).isEqualTo(first + i);
      ends.add(reserved());
    }
    assertThat(ends).hasSizeLessThan(11);
  }

  @Test
  void aProcessThatUsesFewIdsLosesFew() throws IOException {
    long first = IdGenerator.blocks(store).next();
    assertThat(IdGenerator.blocks(store).next()).isEqualTo(first + 1000);
  }

  @Test
  void noIdOfARangeIsGivenOutAgainByTheNextProcess() throws IOException {
    IdGenerator before = IdGenerator.blocks(store);
    long last = 0;
    for (int i = 0; i < 50_000; i++) {
      last = before.next();
    }
    assertThat(IdGenerator.blocks(store).next()).isGreaterThan(last).isEqualTo(reserved() - 1000);
  }
}
