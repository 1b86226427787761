package io.ebbfs.namenode.audit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The bytes on the disks by their use, as the rows have them. The account is exact while nobody
 * writes. The disks hold {@link #rows} bytes, and besides them only two kinds: the part of {@code
 * reserved} that is written already, and replicas whose deletion was ordered and not yet done.
 *
 * @param live data blocks of files that are in stripes
 * @param dead tombstones: blocks of deleted files, kept because parities cover them
 * @param parity parity blocks
 * @param replicated all replicas of unencoded blocks
 * @param leaving excess and corrupt replicas, until their servers have deleted them
 * @param reserved output blocks of running transitions that have no replica row yet
 */
public record SpaceAccount(
    long live, long dead, long parity, long replicated, long leaving, long reserved) {

  /** Bytes of all replicas that have a row. */
  public long rows() {
    return live + dead + parity + replicated + leaving;
  }

  /**
   * The account of the disks that the predicate accepts. It reads all rows, in pages, without
   * locks.
   */
  public static SpaceAccount of(
      CodeRegistry codes, MetadataStore store, Predicate<String> storageUuids) throws IOException {
    return new Reader(codes, store, storageUuids).read();
  }

  private enum Use {
    LIVE,
    DEAD,
    PARITY,
    REPLICATED,
    LEAVING,
    RESERVED
  }

  private static final class Reader {
    private final CodeRegistry codes;
    private final MetadataStore store;
    private final Predicate<String> wanted;
    private final long[] bytes = new long[Use.values().length];
    private long owner = -1;
    private Map<Long, Use> uses = Map.of();

    Reader(CodeRegistry codes, MetadataStore store, Predicate<String> wanted) {
      this.codes = codes;
      this.store = store;
      this.wanted = wanted;
    }

    SpaceAccount read() throws IOException {
      store.eachRow(Tables.REPLICA, this::replica);
      store.eachRow(Tables.TRANSITION, (key, row) -> transition(row));
      return new SpaceAccount(
          bytes[Use.LIVE.ordinal()],
          bytes[Use.DEAD.ordinal()],
          bytes[Use.PARITY.ordinal()],
          bytes[Use.REPLICATED.ordinal()],
          bytes[Use.LEAVING.ordinal()],
          bytes[Use.RESERVED.ordinal()]);
    }

    private void add(Use use, long amount) {
      bytes[use.ordinal()] += amount;
    }

    private void replica(Key key, ReplicaRow row) throws IOException {
      if (!wanted.test(Tables.replicaStorage(key))) {
        return;
      }
      if (key.partition() != owner) {
        owner = key.partition();
        uses = usesOf(owner);
      }
      Use use = uses.getOrDefault(key.firstLong(), Use.LEAVING);
      add(row.getState() == ReplicaStateProto.FINALIZED ? use : Use.LEAVING, row.getLengthBytes());
    }

    /** By block id: the use of the blocks that a file or a stripe owns. */
    private Map<Long, Use> usesOf(long ownerId) throws IOException {
      return store.transact(
          ownerId,
          transaction -> {
            Optional<StripeRow> stripe = transaction.get(Tables.STRIPE, Tables.stripe(ownerId));
            Map<Long, Use> result = new HashMap<>();
            for (Row<BlockRow> row : transaction.scan(Tables.BLOCK, ownerId)) {
              BlockRow block = row.value();
              Use use = block.hasStripeId() ? Use.LIVE : Use.REPLICATED;
              if (stripe.isPresent()) {
                boolean parity =
                    codes
                        .byName(stripe.get().getCode())
                        .position(block.getStripePosition())
                        .isParity();
                use = parity ? Use.PARITY : stripe.get().hasGroupFileId() ? Use.LIVE : Use.DEAD;
              }
              result.put(block.getBlockId(), use);
            }
            return result;
          });
    }

    private void transition(TransitionRow row) throws IOException {
      if (row.getState() != TransitionStateProto.RUNNING) {
        return;
      }
      for (TransitionOutputProto output : row.getOutputsList()) {
        if (wanted.test(output.getStorageUuid()) && !isCounted(output)) {
          add(Use.RESERVED, output.getLengthBytes());
        }
      }
    }

    /**
     * Whether an output has a replica row already: a copied or rebuilt block may be reported early.
     */
    private boolean isCounted(TransitionOutputProto output) throws IOException {
      return store.transact(
          output.getBlockId(),
          transaction -> {
            var known = transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(output.getBlockId()));
            return known.isPresent()
                && known.get().hasOwnerId()
                && transaction
                    .get(
                        Tables.REPLICA,
                        Tables.replica(
                            known.get().getOwnerId(), output.getBlockId(), output.getStorageUuid()))
                    .isPresent();
          });
    }
  }
}
