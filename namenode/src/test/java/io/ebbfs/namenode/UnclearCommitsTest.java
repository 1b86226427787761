package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.rpc.server.CurrentCall;
import io.ebbfs.namenode.store.BufferedTransaction;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The store does not tell whether the commit of a call took effect. */
@Timeout(120)
class UnclearCommitsTest {
  @TempDir Path directory;

  enum Fault {
    COMMITS,
    ROLLS_BACK
  }

  /** Hides the outcome of the next commit of a client's call that writes. */
  private static final class UnclearStore implements MetadataStore {
    private final InMemoryStore rows = InMemoryStore.shared();
    private final AtomicReference<Fault> next = new AtomicReference<>();
    private final AtomicInteger hidden = new AtomicInteger();

    @Override
    public <R> R transact(long hint, Durability durability, TransactionBody<R> body)
        throws IOException {
      boolean[] hides = {false};
      R result =
          rows.transact(
              hint,
              durability,
              transaction -> {
                R found = body.run(transaction);
                hides[0] = CurrentCall.get() != null && writes(transaction) && hide(transaction);
                return found;
              });
      if (hides[0]) {
        throw outcomeUnknown();
      }
      return result;
    }

    private static boolean writes(Object transaction) {
      return transaction instanceof BufferedTransaction buffered && !buffered.writes().isEmpty();
    }

    /** Whether the outcome is to be hidden; throws if nothing is to be written. */
    private boolean hide(Object transaction) throws IOException {
      Fault fault = next.getAndSet(null);
      if (fault != null) {
        hidden.incrementAndGet();
      }
      if (fault == Fault.ROLLS_BACK) {
        throw outcomeUnknown();
      }
      return fault == Fault.COMMITS;
    }

    private static OutcomeUnknownException outcomeUnknown() {
      return new OutcomeUnknownException("a test hides the outcome", null);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
      return rows.scanAll(table, after, limit);
    }

    @Override
    public ChangeLog changes() {
      return rows.changes();
    }

    @Override
    public void close() {}
  }

  private interface Work {
    void run() throws IOException;
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void aCallTakesEffectOnceAndItsClientGetsItsAnswer(Fault fault) throws Exception {
    UnclearStore store = new UnclearStore();
    try (LeaderAndFollower both = new LeaderAndFollower(directory, store)) {
      both.leaderIsKnown(1);
      DFSClient client = both.client(both.follower());
      String leader = "hdfs://127.0.0.1:" + both.leaderAddress.getPort();
      for (DFSClient at : List.of(client, both.client(URI.create(leader)))) {
        hidden(store, fault, () -> assertThat(at.mkdirs("/a", null, true)).isTrue());
        hidden(store, fault, () -> at.create("/a/file", false).close());
        hidden(store, fault, () -> assertThat(at.setReplication("/a/file", (short) 2)).isTrue());
        hidden(store, fault, () -> at.rename("/a/file", "/a/moved", Rename.NONE));
        assertThat(at.exists("/a/file")).isFalse();
        hidden(store, fault, () -> at.setPermission("/a/moved", new FsPermission((short) 0600)));
        assertThat(at.getFileInfo("/a/moved").getPermission().toShort()).isEqualTo((short) 0600);
        hidden(store, fault, () -> assertThat(at.delete("/a/moved", false)).isTrue());
        assertThat(at.exists("/a/moved")).isFalse();
        hidden(store, fault, () -> assertThat(at.delete("/a", true)).isTrue());
      }
    }
  }

  private static void hidden(UnclearStore store, Fault fault, Work work) throws IOException {
    int before = store.hidden.get();
    store.next.set(fault);
    work.run();
    assertThat(store.hidden.get()).as("hidden outcomes").isEqualTo(before + 1);
  }
}
