package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Finds out whether the blocks of a server survive that the server is away and another one is lost.
 * A block in no stripe has to be on two other servers that answer, or on as many as it wants
 * replicas. A stripe has to decode without the server and any other one. Servers that hibernate
 * count as away. Thread-safe.
 */
final class AbsenceCheck {
  private static final int PAGE = 200;

  /** So many servers besides the one that is away have to hold a block in no stripe. */
  private static final int SAFE_SERVERS = 2;

  /**
   * What a look at some blocks of a disk has found.
   *
   * @param reached the last block that was looked at
   * @param atEnd whether the disk has no more
   * @param blocks of files and stripes among them
   * @param unsafe those that would not survive
   * @param why names the first of these
   */
  record Page(long reached, boolean atEnd, int blocks, int unsafe, Optional<String> why) {}

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private volatile StripeService stripes;

  AbsenceCheck(MetadataStore store, DatanodeRegistry cluster) {
    this.store = store;
    this.cluster = cluster;
  }

  /** Sets the stripes. Until then every stripe counts as safe. */
  void bind(StripeService service) {
    stripes = service;
  }

  /** Looks at the blocks of a disk behind one, at most a page of them. */
  Page look(Disk disk, long after, int most) throws IOException {
    int size = Math.min(PAGE, most);
    List<Long> ids = StorageBlocks.page(store, disk.storageNumber(), after, size);
    if (ids.isEmpty()) {
      return new Page(after, true, 0, 0, Optional.empty());
    }
    Set<String> away = away(disk.serverUuid());
    return store.transact(
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> {
          int blocks = 0;
          int unsafe = 0;
          Optional<String> first = Optional.empty();
          Set<Long> stripesSeen = new TreeSet<>();
          for (Map.Entry<Long, StoredBlock> entry : BlockLookup.find(transaction, ids).entrySet()) {
            StoredBlock stored = entry.getValue();
            if (stored.isOutput()) {
              continue; // its transition has not published it
            }
            blocks++;
            Optional<String> why =
                stored.striped() && !stripesSeen.add(stored.block().getStripeId())
                    ? Optional.empty()
                    : whyNot(transaction, stored, away);
            unsafe += why.isPresent() ? 1 : 0;
            first = first.isPresent() ? first : why;
          }
          return new Page(ids.get(ids.size() - 1), ids.size() < size, blocks, unsafe, first);
        });
  }

  private Set<String> away(String serverUuid) {
    Set<String> away =
        cluster.allServers().stream()
            .filter(Server::isHibernating)
            .map(Server::uuid)
            .collect(Collectors.toCollection(TreeSet::new));
    away.add(serverUuid);
    return away;
  }

  private Optional<String> whyNot(Transaction transaction, StoredBlock stored, Set<String> away)
      throws IOException {
    if (stored.striped()) {
      long stripeId = stored.block().getStripeId();
      Optional<String> why =
          stripes == null
              ? Optional.empty()
              : stripes.whyNotSafeWithout(transaction, stripeId, away);
      return why.isEmpty()
          ? why
          : Optional.of(
              "block %d of %s: %s; wait for its repair, or add servers"
                  .formatted(stored.block().getBlockId(), owner(transaction, stored), why.get()));
    }
    BlockAssessment block = BlockAssessment.of(transaction, cluster, stored);
    if (!block.settled()) {
      return Optional.empty(); // its pipeline goes on with the other servers
    }
    Set<String> others =
        cluster.serversOf(
            block.live().stream()
                .filter(replica -> !cluster.isLeaving(replica.storageUuid()))
                .map(Replica::storageUuid)
                .toList());
    others.removeAll(away);
    int needed = Math.min(SAFE_SERVERS, block.wanted());
    return others.size() >= needed
        ? Optional.empty()
        : Optional.of(
            "block %d of %s is on %d other servers that stay, and %d are needed: wait for its copies, raise its replication ('hdfs dfs -setrep'), or evict the server instead"
                .formatted(
                    block.block().getBlockId(), owner(transaction, stored), others.size(), needed));
  }

  /** The file of a block, or what stands for it: a parity has none. */
  private static String owner(Transaction transaction, StoredBlock stored) throws IOException {
    return PathResolver.pathOf(transaction, stored.ownerId())
        .map(path -> "file " + path)
        .orElse(stored.striped() ? "no file" : "file " + stored.ownerId());
  }
}
