package io.ebbfs.namenode.stripes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.replicas.StripeService.Member;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StripeManagerTest {
  private final InMemoryStore store = new InMemoryStore();
  private final StripeManager stripes = new StripeManager(CodeRegistry.builtIn(), null, null);

  private static List<Member> memberOf(long stripeId) {
    return List.of(
        new Member(
            1,
            0,
            BlockRow.newBuilder()
                .setBlockId(7)
                .setGenerationStamp(1)
                .setLengthBytes(8)
                .setState(BlockStateProto.COMPLETE)
                .setReplication(1)
                .setStripeId(stripeId)
                .build()));
  }

  /** The block moved to a stripe whose lock comes before the lock that is held. */
  @Test
  void aStripeThatWasConvertedBeforeItsLockMakesTheTransactionStartAnew() throws IOException {
    List<Long> held = new ArrayList<>(List.of(9L, 5L));
    List<Long> tried = new ArrayList<>();
    assertThatThrownBy(
            () ->
                OptimisticTransactions.transact(
                    store,
                    1,
                    transaction -> {
                      long locked = held.remove(0);
                      tried.add(locked);
                      transaction.lock(
                          List.of(RowLock.exclusive(Tables.STRIPE, Tables.stripe(locked))));
                      return stripes.removeMembers(transaction, memberOf(5));
                    }))
        .isNotInstanceOf(StaleReadException.class)
        .hasMessageContaining("stripe 5, which does not exist");
    assertThat(tried).containsExactly(9L, 5L);
  }
}
