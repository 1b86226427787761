package io.ebbfs.ignite;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStoreContract;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The contract on nodes that live as long as the class. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class IgniteStoreContract extends MetadataStoreContract {
  /** On a busy machine eight threads that want one row wait longer than in the embedded store. */
  private static final long LONG_LOCK_TIMEOUT_MILLIS = 3_000;

  @TempDir static Path directory;
  StoreNodes nodes;
  IgniteStore shared;

  abstract int countOfNodes();

  @BeforeAll
  void startNodes() throws Exception {
    nodes = StoreNodes.start(directory, countOfNodes());
    shared = IgniteStore.open(nodes.client().withLockTimeout(LONG_LOCK_TIMEOUT_MILLIS));
  }

  @AfterAll
  void stopNodes() throws IOException {
    try {
      if (shared != null) {
        shared.close();
      }
    } finally {
      if (nodes != null) {
        nodes.close();
      }
    }
  }

  @Override
  protected MetadataStore open() throws IOException {
    shared.clear();
    return new StaysOpen(shared);
  }

  private record StaysOpen(MetadataStore store) implements MetadataStore {
    @Override
    public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
        throws IOException {
      return store.transact(partitionHint, durability, body);
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
        throws IOException {
      return store.scanAll(table, after, limit);
    }

    @Override
    public void close() {}
  }
}
