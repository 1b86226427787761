package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Test;

/** A merge whose stripes change between look-up and lock is refused and leaves nothing behind. */
class RefusedMergeTest {
  private static final long SEED = 11;

  private final CodingCluster cluster;

  RefusedMergeTest() throws IOException {
    cluster = new CodingCluster(14, 6, SEED);
  }

  /** Changes a stripe once, after the transaction that looks up the stripes of the merge. */
  private final class ChangingStore implements MetadataStore {
    private final long lookedUp;
    private final long changing;
    private boolean changed;

    ChangingStore(long lookedUp, long changing) {
      this.lookedUp = lookedUp;
      this.changing = changing;
    }

    @Override
    public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
        throws IOException {
      R result = cluster.store.transact(partitionHint, durability, body);
      if (partitionHint == lookedUp && !changed) {
        changed = true;
        changeGeneration(changing);
      }
      return result;
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
      return cluster.store.scanAll(table, after, limit);
    }

    @Override
    public ChangeLog changes() {
      return cluster.store.changes();
    }

    @Override
    public void close() {}
  }

  private void changeGeneration(long stripeId) throws IOException {
    cluster.store.transact(
        stripeId,
        transaction -> {
          StripeRow row = transaction.get(Tables.STRIPE, Tables.stripe(stripeId)).orElseThrow();
          transaction.put(
              Tables.STRIPE,
              Tables.stripe(stripeId),
              row.toBuilder().setGeneration(row.getGeneration() + 1).build());
          return null;
        });
  }

  @Test
  void aMergeWhoseLastStripeChangedLeavesNoMarkOnTheOthers() throws Exception {
    cluster.createFile(30, 64, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_FAST, cluster.fileIds(), List.of());
    cluster.runAll();
    List<Long> stripes = cluster.stripeIds();
    assertThat(stripes).hasSize(3);
    int transitions = cluster.transitions().size();

    cluster.restart(new ChangingStore(stripes.get(0), stripes.get(2)));
    ProposedProto proposed =
        cluster.propose(TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), stripes);

    assertThat(proposed.getTransitionIdsList()).isEmpty();
    assertThat(proposed.getRefusal()).contains("changed while they were planned");
    assertThat(cluster.stripeList()).noneMatch(s -> s.getStripe().hasTransitionId());
    cluster.restart();
    assertThat(cluster.transitions()).hasSize(transitions);
    cluster.assertConsistent();

    cluster.propose(TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), cluster.stripeIds());
    cluster.runAll();
    assertThat(cluster.stripeIds()).hasSize(1);
    cluster.assertAllReadable();
  }
}
