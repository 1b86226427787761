package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.List;

/**
 * Walks over the rows of all transitions again and again. So the index learns of rows that no call
 * of this process has committed for certain: a former leader that was frozen may plan a transition
 * after this process has loaded the index, and the answer to a commit may be lost. Used by one
 * thread.
 */
public final class TransitionScanner {
  private static final int PER_TICK = 200;

  private final MetadataStore store;
  private final TransitionIndex index;
  private Key last;

  public TransitionScanner(MetadataStore store, TransitionIndex index) {
    this.store = store;
    this.index = index;
  }

  /** Reads the next rows. The work is bounded. */
  public void tick() throws IOException {
    List<Row<TransitionRow>> page = store.scanAll(Tables.TRANSITION, last, PER_TICK);
    page.forEach(row -> index.learn(row.value()));
    last = page.size() < PER_TICK ? null : page.get(page.size() - 1).key();
  }
}
