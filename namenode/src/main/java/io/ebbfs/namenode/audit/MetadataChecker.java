package io.ebbfs.namenode.audit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Usage;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Reads all metadata and reports rows that contradict each other. It changes nothing and takes no
 * locks. While other threads write, a finding may be a transaction seen half-way: only a finding
 * that a second run repeats counts.
 */
public final class MetadataChecker {
  /** How bad a finding is. */
  public enum Severity {
    /** Rows contradict each other. */
    WRONG,
    /** The rows agree, but a stripe would not survive a failure that it should survive. */
    UNDER_PROTECTED
  }

  /** One contradiction between rows, or one under-protected stripe. */
  public record Finding(Severity severity, String message) {}

  private static final String HEALS =
      "An older version of EbbFS on the same store leaves such a note; one of the next 28 full"
          + " reports of the disk clears the note";

  private final CodeRegistry codes;
  private final MetadataStore store;
  private final ClusterView cluster;
  private final int limit;
  private final Map<Long, Disk> disks = new HashMap<>();
  private final List<Finding> findings = new ArrayList<>();

  private MetadataChecker(CodeRegistry codes, MetadataStore store, ClusterView cluster, int limit) {
    this.codes = codes;
    this.store = store;
    this.cluster = cluster;
    this.limit = limit;
    cluster
        .allServers()
        .forEach(server -> server.disks().forEach(disk -> disks.put(disk.storageNumber(), disk)));
  }

  /** Checks all rows; stops after {@code limit} findings. */
  public static List<Finding> run(
      CodeRegistry codes, MetadataStore store, ClusterView cluster, int limit) throws IOException {
    MetadataChecker check = new MetadataChecker(codes, store, cluster, limit);
    check.forAll(Tables.BLOCK, check::block);
    check.forAll(Tables.BLOCK_OWNER, check::blockOwner);
    check.forAll(Tables.REPLICA, check::replica);
    check.forAll(Tables.STORAGE_REPLICA, check::listedReplica);
    check.forAll(Tables.STRIPE, check::stripe);
    check.forAll(Tables.TRANSITION, check::transition);
    check.forAll(Tables.XATTR, check::xattrs);
    check.usage();
    check.quotas();
    check.snapshots();
    return List.copyOf(check.findings);
  }

  private interface Visit<V extends MessageLite> {
    void row(Key key, V value) throws IOException;
  }

  private <V extends MessageLite> void forAll(Table<V> table, Visit<V> visit) throws IOException {
    Key after = null;
    while (true) {
      List<Row<V>> page = store.scanAll(table, after, table.rowsOfAPage());
      for (Row<V> row : page) {
        if (findings.size() >= limit) {
          return;
        }
        visit.row(row.key(), row.value());
        after = row.key();
      }
      if (page.size() < table.rowsOfAPage()) {
        return;
      }
    }
  }

  private <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
    return store.transact(
        key.partition(), Durability.RELAXED, transaction -> transaction.get(table, key));
  }

  private void require(boolean holds, String format, Object... arguments) {
    report(holds, Severity.WRONG, format, arguments);
  }

  private void report(boolean holds, Severity severity, String format, Object... arguments) {
    if (!holds && findings.size() < limit) {
      findings.add(new Finding(severity, format.formatted(arguments)));
    }
  }

  // ---- extended attributes
  // -----------------------------------------------------------------------

  private void xattrs(Key key, XAttrRow attributes) throws IOException {
    long inodeId = key.partition();
    Optional<InodeNameRow> name = get(Tables.INODE_NAME, Tables.inodeName(inodeId));
    Optional<InodeRow> inode = Optional.empty();
    if (name.isPresent()) {
      inode =
          get(
              Tables.INODE,
              Tables.inode(name.get().getParentId(), name.get().getName().toByteArray()));
    }
    require(
        inode.filter(row -> row.getId() == inodeId && row.getExtendedAttributes()).isPresent(),
        "there are %d extended attributes of inode %d, whose row is %s",
        attributes.getAttributesCount(),
        inodeId,
        inode);
  }

  // ---- blocks ----------------------------------------------------------------------------------

  private void block(Key key, BlockRow block) throws IOException {
    long ownerId = key.partition();
    long index = key.firstLong();
    if (GroupRows.isGroup(block)) {
      group(ownerId, index, block);
      return;
    }
    Optional<BlockOwnerRow> owner = get(Tables.BLOCK_OWNER, Tables.blockOwner(block.getBlockId()));
    require(
        owner.isPresent()
            && owner.get().hasOwnerId()
            && owner.get().getOwnerId() == ownerId
            && owner.get().getIndex() == index,
        "block %d is at (%d, %d), but its owner row says %s",
        block.getBlockId(),
        ownerId,
        index,
        owner);
    boolean ownedByStripe = get(Tables.STRIPE, Tables.stripe(ownerId)).isPresent();
    boolean isOpenInGroup = block.hasGroupFileId() && !block.hasStripeId();
    if (block.hasGroupFileId()) {
      blockOfGroup(ownerId, block);
    }
    require(
        ownedByStripe
            || isOpenInGroup
            || get(Tables.INODE_NAME, Tables.inodeName(ownerId)).isPresent(),
        "block %d belongs to %d, which is no file and no stripe",
        block.getBlockId(),
        ownerId);
    require(
        !ownedByStripe || block.getStripeId() == ownerId,
        "block %d belongs to stripe %d, but says that it is in stripe %d",
        block.getBlockId(),
        ownerId,
        block.getStripeId());
    if (block.hasStripeId()) {
      memberBlock(ownerId, index, block);
    }
    if (block.hasTransitionId()) {
      Optional<TransitionRow> transition =
          get(Tables.TRANSITION, Tables.transition(block.getTransitionId()));
      require(
          transition.isPresent()
              && TransitionIndex.isActive(transition.get().getState())
              && transition.get().getBlocksList().stream()
                  .anyMatch(b -> b.getBlockId() == block.getBlockId()),
          "block %d is marked by transition %d, which does not hold it",
          block.getBlockId(),
          block.getTransitionId());
    }
  }

  /** A block group of a file: its blocks have rows, and a stripe once the group is complete. */
  private void group(long fileId, long index, BlockRow group) throws IOException {
    require(
        get(Tables.INODE_NAME, Tables.inodeName(fileId)).isPresent(),
        "block group %d belongs to %d, which is no file",
        group.getBlockId(),
        fileId);
    boolean hasStripe =
        get(Tables.STRIPE, Tables.stripe(group.getInternalOwnerId()))
            .filter(stripe -> stripe.getGroupFileId() == fileId && stripe.getGroupIndex() == index)
            .isPresent();
    boolean wantsStripe =
        group.getState() == BlockStateProto.COMPLETE && group.getLengthBytes() > 0;
    require(
        hasStripe == wantsStripe,
        "block group %d at (%d, %d) is %s, and its stripe %d %s",
        group.getBlockId(),
        fileId,
        index,
        group.getState(),
        group.getInternalOwnerId(),
        hasStripe ? "is there" : "is missing or belongs to another group");
  }

  private void blockOfGroup(long ownerId, BlockRow block) throws IOException {
    require(
        get(Tables.BLOCK, Tables.block(block.getGroupFileId(), block.getGroupIndex()))
            .filter(group -> group.getInternalOwnerId() == ownerId)
            .isPresent(),
        "block %d says that it is in the block group at (%d, %d), which does not say so",
        block.getBlockId(),
        block.getGroupFileId(),
        block.getGroupIndex());
  }

  private void memberBlock(long ownerId, long index, BlockRow block) throws IOException {
    require(
        block.getReplication() == 1,
        "block %d is in stripe %d and wants %d replicas instead of 1",
        block.getBlockId(),
        block.getStripeId(),
        block.getReplication());
    Optional<StripeMemberProto> member =
        get(Tables.STRIPE, Tables.stripe(block.getStripeId()))
            .flatMap(
                stripe ->
                    stripe.getMembersList().stream()
                        .filter(m -> m.getPosition() == block.getStripePosition())
                        .findFirst());
    require(
        member.isPresent()
            && member.get().getBlockId() == block.getBlockId()
            && member.get().getGenerationStamp() == block.getGenerationStamp()
            && member.get().getLengthBytes() == block.getLengthBytes()
            && member.get().getOwnerId() == ownerId
            && member.get().getOwnerIndex() == index,
        "block %d at (%d, %d) says position %d of stripe %d, which has %s there",
        block.getBlockId(),
        ownerId,
        index,
        block.getStripePosition(),
        block.getStripeId(),
        member);
  }

  private void blockOwner(Key key, BlockOwnerRow owner) throws IOException {
    long blockId = key.partition();
    if (owner.hasOwnerId()) {
      require(
          get(Tables.BLOCK, Tables.block(owner.getOwnerId(), owner.getIndex()))
              .filter(block -> block.getBlockId() == blockId)
              .isPresent(),
          "the owner row of block %d says (%d, %d), where it is not",
          blockId,
          owner.getOwnerId(),
          owner.getIndex());
      return;
    }
    Optional<TransitionRow> transition =
        get(Tables.TRANSITION, Tables.transition(owner.getTransitionId()));
    require(
        transition.isPresent()
            && transition.get().getState() == TransitionStateProto.RUNNING
            && transition.get().getOutputsList().stream()
                .anyMatch(output -> output.getBlockId() == blockId),
        "block %d is reserved for transition %d, which does not write it",
        blockId,
        owner.getTransitionId());
  }

  private void replica(Key key, ReplicaRow replica) throws IOException {
    long blockId = key.firstLong();
    String storage = Tables.replicaStorage(key);
    Optional<BlockOwnerRow> owner = get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId));
    require(
        owner.isPresent() && owner.get().getOwnerId() == key.partition(),
        "a replica of block %d on disk %s is kept under owner %d; the block's owner is %s",
        blockId,
        storage,
        key.partition(),
        owner);
    Optional<Disk> disk = cluster.disk(storage);
    if (disk.isPresent()) {
      require(
          get(Tables.STORAGE_REPLICA, Tables.storageReplica(disk.get().storageNumber(), blockId))
              .isPresent(),
          "a replica of block %d (%s) is missing in the list of its disk %s",
          blockId,
          replica.getState(),
          storage);
    }
  }

  /** A row in the list of a disk. One that was never verified may be there without a replica. */
  private void listedReplica(Key key, StorageReplicaRow listed) throws IOException {
    Disk disk = disks.get(key.partition());
    if (disk == null || !listed.hasVerifiedGenerationStamp()) {
      return;
    }
    long blockId = key.firstLong();
    String storage = disk.storageUuid();
    Optional<BlockOwnerRow> owner =
        get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId)).filter(BlockOwnerRow::hasOwnerId);
    Optional<ReplicaRow> replica =
        owner.isEmpty()
            ? Optional.empty()
            : get(Tables.REPLICA, Tables.replica(owner.get().getOwnerId(), blockId, storage));
    if (replica.isPresent()) {
      verified(storage, listed, replica.get(), owner.get());
    } else {
      require(
          false,
          "the list of disk %s calls a replica of block %d verified, which has no row: owner %s. %s",
          storage,
          blockId,
          owner,
          HEALS);
    }
  }

  private void verified(
      String storage, StorageReplicaRow note, ReplicaRow replica, BlockOwnerRow owner)
      throws IOException {
    Optional<BlockRow> block =
        get(Tables.BLOCK, Tables.block(owner.getOwnerId(), owner.getIndex()));
    long stamp = note.getVerifiedGenerationStamp();
    long length = note.getVerifiedLengthBytes();
    boolean isReplica =
        replica.getState() == ReplicaStateProto.FINALIZED
            && replica.getGenerationStamp() == stamp
            && replica.getLengthBytes() == length;
    boolean isBlock =
        block
            .filter(
                row ->
                    row.getState() == BlockStateProto.COMPLETE
                        && row.getGenerationStamp() == stamp
                        && row.getLengthBytes() == length)
            .isPresent();
    require(
        isReplica && isBlock,
        "the list of disk %s calls a replica verified with generation %d and %d bytes; its rows"
            + " differ: replica %s, block %s. %s",
        storage,
        stamp,
        length,
        replica,
        block,
        HEALS);
  }

  // ---- stripes ---------------------------------------------------------------------------------

  private void stripe(Key key, StripeRow row) throws IOException {
    require(
        key.partition() == row.getId(), "stripe %d is kept as %d", row.getId(), key.partition());
    ErasureCode code = codes.byName(row.getCode());
    Map<Integer, Long> lengths = new HashMap<>();
    Set<Integer> data = new TreeSet<>();
    Set<Integer> occupied = new TreeSet<>();
    boolean alive = false;
    for (StripeMemberProto member : row.getMembersList()) {
      require(
          occupied.add(member.getPosition()),
          "stripe %d has two blocks at position %d",
          row.getId(),
          member.getPosition());
      lengths.put(member.getPosition(), member.getLengthBytes());
      if (code.position(member.getPosition()).isData()) {
        data.add(member.getPosition());
      }
      alive |= StripeState.isLiveData(code, member);
      member(code, row, member);
    }
    require(alive, "stripe %d has no live data and should have gone", row.getId());
    require(
        occupied.equals(code.occupied(data)),
        "stripe %d has data at %s and blocks at %s, which is not all that %s needs",
        row.getId(),
        data,
        occupied,
        code);
    lengths(code, row, lengths);
    if (row.hasTransitionId()) {
      stripeMark(row);
    }
    placement(row);
  }

  /** Checks that every parity is as long as the longest block that it covers. */
  private void lengths(ErasureCode code, StripeRow row, Map<Integer, Long> lengths) {
    lengths.forEach(
        (position, length) -> {
          long expected = code.lengthBytes(position, d -> lengths.getOrDefault(d, 0L));
          require(
              length == expected,
              "position %d of stripe %d has %d bytes instead of %d",
              position,
              row.getId(),
              length,
              expected);
        });
  }

  private void member(ErasureCode code, StripeRow row, StripeMemberProto member)
      throws IOException {
    boolean own =
        code.position(member.getPosition()).isParity()
            || member.getTombstone()
            || row.hasGroupFileId();
    require(
        own == (member.getOwnerId() == row.getId()),
        "position %d of stripe %d belongs to %d",
        member.getPosition(),
        row.getId(),
        member.getOwnerId());
    require(
        get(Tables.BLOCK, Tables.block(member.getOwnerId(), member.getOwnerIndex()))
            .filter(block -> block.getBlockId() == member.getBlockId())
            .filter(block -> block.getStripeId() == row.getId())
            .filter(block -> block.getStripePosition() == member.getPosition())
            .isPresent(),
        "stripe %d has block %d at position %d, whose row at (%d, %d) does not say so",
        row.getId(),
        member.getBlockId(),
        member.getPosition(),
        member.getOwnerId(),
        member.getOwnerIndex());
  }

  private void stripeMark(StripeRow row) throws IOException {
    Optional<TransitionRow> transition =
        get(Tables.TRANSITION, Tables.transition(row.getTransitionId()));
    require(
        transition.isPresent()
            && TransitionIndex.isActive(transition.get().getState())
            && transition.get().getStripesList().stream()
                .anyMatch(s -> s.getStripeId() == row.getId()),
        "stripe %d is marked by transition %d, which does not hold it",
        row.getId(),
        row.getTransitionId());
  }

  /**
   * Checks the placement of the live members: no two share a disk, and the stripe survives the loss
   * of any server.
   */
  private void placement(StripeRow row) throws IOException {
    StripeState stripe =
        store.transact(
            row.getId(),
            Durability.RELAXED,
            transaction -> StripeState.read(transaction, codes, cluster, row));
    Map<String, Integer> byDisk = new HashMap<>();
    Map<String, Set<Integer>> byServer = new HashMap<>();
    stripe
        .locations()
        .forEach(
            (position, storages) -> {
              if (storages.size() == 1) {
                String storage = storages.get(0);
                Integer other = byDisk.put(storage, position);
                report(
                    other == null,
                    Severity.UNDER_PROTECTED,
                    "stripe %d has positions %s and %d on disk %s",
                    row.getId(),
                    Objects.toString(other),
                    position,
                    storage);
                cluster
                    .disk(storage)
                    .ifPresent(
                        disk ->
                            byServer
                                .computeIfAbsent(disk.serverUuid(), ignored -> new TreeSet<>())
                                .add(position));
              }
            });
    byServer.forEach(
        (server, positions) ->
            report(
                stripe.code().decodes(positions),
                Severity.UNDER_PROTECTED,
                "stripe %d does not survive the loss of server %s, which has positions %s",
                row.getId(),
                server,
                positions));
  }

  // ---- transitions -----------------------------------------------------------------------------

  private void transition(Key key, TransitionRow row) throws IOException {
    require(
        key.partition() == row.getId(),
        "transition %d is kept as %d",
        row.getId(),
        key.partition());
  }

  // ---- quotas ----------------------------------------------------------------------------------

  private void quotas() throws IOException {
    for (String finding : QuotaCheck.run(store)) {
      require(false, "%s", finding);
    }
  }

  // ---- snapshots -------------------------------------------------------------------------------

  private void snapshots() throws IOException {
    for (String finding : SnapshotCheck.run(store)) {
      require(false, "%s", finding);
    }
  }

  // ---- sums ------------------------------------------------------------------------------------

  private void usage() throws IOException {
    Optional<Usage> kept = ChangeLog.stored(store);
    if (kept.isPresent()) {
      Usage counted = ChangeLog.scan(store);
      require(
          kept.get().equals(counted),
          "the sums that are kept are %s, but the rows make %s",
          kept.get(),
          counted);
    }
  }
}
