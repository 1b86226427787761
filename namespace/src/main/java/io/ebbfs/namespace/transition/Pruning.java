package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Deletes the rows of transitions that ended long ago. */
public final class Pruning {
  private static final int PER_TICK = 1_000;

  private final MetadataStore store;
  private final TransitionIndex index;
  private final TransitionSettings settings;

  public Pruning(MetadataStore store, TransitionIndex index, TransitionSettings settings) {
    this.store = store;
    this.index = index;
    this.settings = settings;
  }

  /** Keeps the newest; bounded. */
  public void tick() throws IOException {
    List<Long> surplus = index.takeSurplusFinished(settings.keepFinished(), PER_TICK);
    if (surplus.isEmpty()) {
      return;
    }
    store.transact(
        surplus.get(0),
        Durability.RELAXED,
        transaction -> {
          OwnerLocks.lock(transaction, List.of(), List.of(), surplus);
          for (long id : surplus) {
            Optional<TransitionRow> row = transaction.get(Tables.TRANSITION, Tables.transition(id));
            if (row.isPresent() && !TransitionIndex.isActive(row.get().getState())) {
              transaction.delete(Tables.TRANSITION, Tables.transition(id));
            }
          }
          return null;
        });
  }
}
