package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OwnerLocks;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Deletes the rows of transitions that ended long ago. */
public final class TransitionPruner {
  private static final int PER_TICK = 1_000;

  private final MetadataStore store;
  private final TransitionIndex index;
  private final TransitionSettings settings;

  public TransitionPruner(MetadataStore store, TransitionIndex index, TransitionSettings settings) {
    this.store = store;
    this.index = index;
    this.settings = settings;
  }

  /** Deletes the oldest finished transitions beyond the number to keep. The work is bounded. */
  public void tick() throws IOException {
    List<Long> oldest = index.takeOldestFinished(settings.keepFinished(), PER_TICK);
    if (oldest.isEmpty()) {
      return;
    }
    store.transact(
        oldest.get(0),
        Durability.RELAXED,
        transaction -> {
          OwnerLocks.lock(transaction, List.of(), List.of(), oldest);
          for (long id : oldest) {
            Optional<TransitionRow> row = transaction.get(Tables.TRANSITION, Tables.transition(id));
            if (row.isPresent() && !TransitionIndex.isActive(row.get().getState())) {
              transaction.delete(Tables.TRANSITION, Tables.transition(id));
            }
          }
          return null;
        });
  }
}
