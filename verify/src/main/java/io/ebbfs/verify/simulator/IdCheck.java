package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.LeaderRow;
import io.ebbfs.verify.simulator.CrashingStore.Write;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Checks that several namenodes give out nothing twice: no id of a file, a stripe, a block or a
 * transition, no generation stamp, and no term of a leader.
 */
final class IdCheck implements CrashingStore.Listener {
  private static final List<Table<?>> WITH_IDS =
      List.of(Tables.INODE_NAME, Tables.STRIPE, Tables.BLOCK_OWNER, Tables.TRANSITION);

  private final CrashingStore.Listener next;
  private final Map<Table<?>, Set<Long>> gone = new HashMap<>();
  private final Map<Long, Long> blockByStamp = new HashMap<>();
  private final Map<Long, String> holderByTerm = new HashMap<>();

  /**
   * @param next hears of each commit, too
   */
  IdCheck(CrashingStore.Listener next) {
    this.next = next;
    WITH_IDS.forEach(table -> gone.put(table, new HashSet<>()));
  }

  @Override
  public void committed(List<Write> writes) {
    writes.forEach(this::check);
    next.committed(writes);
  }

  @Override
  public void restored(List<Write> writes) {
    next.restored(writes);
  }

  private void check(Write write) {
    Set<Long> ids = gone.get(write.table());
    if (ids != null) {
      long id = write.key().partition();
      if (write.value() == null) {
        ids.add(id);
      } else if (ids.contains(id)) {
        throw new Violation(
            "id %d of table '%s' is given out twice".formatted(id, write.table().name()));
      }
    }
    if (write.value() instanceof BlockRow block) {
      Long other = blockByStamp.putIfAbsent(block.getGenerationStamp(), block.getBlockId());
      if (other != null && other != block.getBlockId()) {
        throw new Violation(
            "generation stamp %d is given to block %d and to block %d"
                .formatted(block.getGenerationStamp(), other, block.getBlockId()));
      }
    }
    if (write.value() instanceof LeaderRow leader) {
      String other = holderByTerm.putIfAbsent(leader.getTerm(), leader.getHolder());
      if (other != null && !other.equals(leader.getHolder())) {
        throw new Violation(
            "term %d has two leaders, %s and %s"
                .formatted(leader.getTerm(), other, leader.getHolder()));
      }
    }
  }
}
