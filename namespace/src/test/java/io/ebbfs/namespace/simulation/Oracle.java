package io.ebbfs.namespace.simulation;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Table;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Knows everything, and says whether a promise was broken. It compares the rows with what is truly
 * on the disks:
 *
 * <ul>
 *   <li>every acknowledged block can be read or decoded, by rank;
 *   <li>every member of every stripe holds what its code says, wherever a copy of it is;
 *   <li>every block has one owner, every owner knows its blocks, every mark a transition;
 *   <li>once everything has come to rest: nothing is lost, nothing is left over, nothing waits.
 * </ul>
 */
final class Oracle {
  private final MetadataStore store;
  private final SimCluster cluster;
  // What clients were told is safe: block ids with their lengths, by file.
  private final Map<Long, Map<Long, Long>> acknowledged = new TreeMap<>();

  Oracle(MetadataStore store, SimCluster cluster) {
    this.store = store;
    this.cluster = cluster;
  }

  void acknowledge(long fileId, Map<Long, Long> blockLengths) {
    acknowledged.put(fileId, blockLengths);
  }

  /** Called before a file is deleted: from then on it may be gone or not. */
  void forget(long fileId) {
    acknowledged.remove(fileId);
  }

  Set<Long> acknowledgedFiles() {
    return acknowledged.keySet();
  }

  /** Which copies of blocks are taken into account. */
  interface Counts {
    Counts ALL = (block, disk) -> true;

    boolean counts(SimBlock block, SimDisk disk);
  }

  /** Everything that the rows say, and where every block truly is. */
  final class Snapshot {
    final Map<Long, BlockOwnerRow> owners = new HashMap<>();
    final Map<Long, BlockRow> blocks = new HashMap<>();
    final Map<Long, Key> blockKeys = new HashMap<>();
    final Map<Long, StripeRow> stripes = new TreeMap<>();
    final Map<Long, TransitionRow> transitions = new TreeMap<>();
    final Map<Long, List<SimBlock>> copies = new HashMap<>();
    final Map<Long, List<SimDisk>> copyDisks = new HashMap<>();
    final List<Row<ReplicaRow>> replicas;
    final Set<String> finalized = new HashSet<>();
    final Set<Long> files = new HashSet<>();
    final Set<String> corrupt = new TreeSet<>();

    Snapshot() throws IOException {
      for (Row<BlockOwnerRow> row : all(Tables.BLOCK_OWNER)) {
        owners.put(row.key().partition(), row.value());
      }
      for (Row<BlockRow> row : all(Tables.BLOCK)) {
        long id = row.value().getBlockId();
        if (blocks.put(id, row.value()) != null) {
          throw new Violation("block " + id + " has two rows");
        }
        blockKeys.put(id, row.key());
      }
      all(Tables.STRIPE).forEach(row -> stripes.put(row.key().partition(), row.value()));
      all(Tables.TRANSITION).forEach(row -> transitions.put(row.key().partition(), row.value()));
      for (Row<InodeRow> row : all(Tables.INODE)) {
        files.add(row.value().getId());
      }
      replicas = all(Tables.REPLICA);
      for (Row<ReplicaRow> row : replicas) {
        if (row.value().getState() == ReplicaStateProto.FINALIZED) {
          finalized.add(row.key().firstLong() + "@" + Tables.replicaStorage(row.key()));
        }
      }
      for (SimServer server : cluster.servers()) {
        for (SimDisk disk : server.disks()) {
          for (SimBlock block : disk.blocks.values()) {
            if (block.corrupt()) {
              corrupt.add(block.blockId() + "@" + disk.uuid);
              continue;
            }
            copies.computeIfAbsent(block.blockId(), id -> new ArrayList<>()).add(block);
            copyDisks.computeIfAbsent(block.blockId(), id -> new ArrayList<>()).add(disk);
          }
        }
      }
    }

    boolean isActive(long transitionId) {
      TransitionRow row = transitions.get(transitionId);
      return row != null
          && (row.getState() == TransitionStateProto.PLANNED
              || row.getState() == TransitionStateProto.RUNNING);
    }

    List<SimBlock> whole(long blockId, long generationStamp, long lengthBytes) {
      return copies.getOrDefault(blockId, List.of()).stream()
          .filter(b -> b.generationStamp() == generationStamp && b.lengthBytes() == lengthBytes)
          .toList();
    }

    /** Positions of which no whole copy counts. */
    Set<Integer> lost(StripeRow stripe, Counts counts) {
      Set<Integer> lost = new TreeSet<>();
      for (StripeMemberProto member : stripe.getMembersList()) {
        List<SimBlock> found = copies.getOrDefault(member.getBlockId(), List.of());
        List<SimDisk> disks = copyDisks.getOrDefault(member.getBlockId(), List.of());
        boolean there = false;
        for (int i = 0; i < found.size(); i++) {
          there |=
              counts.counts(found.get(i), disks.get(i))
                  && found.get(i).generationStamp() == member.getGenerationStamp()
                  && found.get(i).lengthBytes() == member.getLengthBytes();
        }
        if (!there) {
          lost.add(member.getPosition());
        }
      }
      return lost;
    }
  }

  Snapshot snapshot() throws IOException {
    return new Snapshot();
  }

  private <V extends MessageLite> List<Row<V>> all(Table<V> table) throws IOException {
    return store.scanAll(table, null, Integer.MAX_VALUE);
  }

  // ---- at any time ------------------------------------------------------------------------------

  void check() throws IOException {
    Snapshot now = snapshot();
    stripesAreWhatTheirCodesSay(now);
    rowsAgree(now);
    everythingDecodes(now, Counts.ALL);
  }

  private static void stripesAreWhatTheirCodesSay(Snapshot now) {
    for (StripeRow stripe : now.stripes.values()) {
      ErasureCode code = Codes.byName(stripe.getCode());
      Map<Integer, Long> data = new TreeMap<>();
      for (StripeMemberProto member : stripe.getMembersList()) {
        if (code.position(member.getPosition()).isData()) {
          data.put(member.getPosition(), member.getBlockId());
        }
      }
      Set<Integer> positions = new TreeSet<>();
      for (StripeMemberProto member : stripe.getMembersList()) {
        if (!positions.add(member.getPosition())) {
          throw new Violation("stripe " + stripe.getId() + " has two members at one position");
        }
        contentIsRight(now, stripe, code, data, member);
      }
      if (!positions.equals(code.occupied(data.keySet()))) {
        throw new Violation(
            "stripe %d in %s has members at %s, its data needs %s"
                .formatted(stripe.getId(), code, positions, code.occupied(data.keySet())));
      }
    }
  }

  private static void contentIsRight(
      Snapshot now,
      StripeRow stripe,
      ErasureCode code,
      Map<Integer, Long> data,
      StripeMemberProto member) {
    Map<Long, Integer> terms = new TreeMap<>();
    for (Map.Entry<Integer, Long> block : data.entrySet()) {
      int coefficient = code.generator().get(member.getPosition(), block.getKey());
      if (coefficient != 0) {
        terms.put(block.getValue(), coefficient);
      }
    }
    Content expected = new Content(terms);
    for (SimBlock copy :
        now.whole(member.getBlockId(), member.getGenerationStamp(), member.getLengthBytes())) {
      if (!copy.content().equals(expected)) {
        throw new Violation(
            "stripe %d in %s, position %d: block %d holds %s, should hold %s"
                .formatted(
                    stripe.getId(),
                    code,
                    member.getPosition(),
                    copy.blockId(),
                    copy.content(),
                    expected));
      }
    }
  }

  private static void rowsAgree(Snapshot now) {
    Map<Long, Long> stripeOf = new HashMap<>();
    for (StripeRow stripe : now.stripes.values()) {
      for (StripeMemberProto member : stripe.getMembersList()) {
        memberAgrees(now, stripe, member);
        if (stripeOf.put(member.getBlockId(), stripe.getId()) != null) {
          throw new Violation("block " + member.getBlockId() + " is in two stripes");
        }
      }
      if (stripe.hasTransitionId() && !now.isActive(stripe.getTransitionId())) {
        throw new Violation(
            "stripe %d waits for transition %d, which has ended"
                .formatted(stripe.getId(), stripe.getTransitionId()));
      }
    }
    now.blocks.forEach(
        (id, block) -> {
          blockAgrees(now, id, block);
          if (block.hasStripeId() && !Long.valueOf(block.getStripeId()).equals(stripeOf.get(id))) {
            throw new Violation(
                "block %d says it is in stripe %d, which does not have it"
                    .formatted(id, block.getStripeId()));
          }
        });
    now.owners.forEach((id, owner) -> ownerAgrees(now, id, owner));
  }

  private static void memberAgrees(Snapshot now, StripeRow stripe, StripeMemberProto member) {
    BlockRow block = now.blocks.get(member.getBlockId());
    Key key = now.blockKeys.get(member.getBlockId());
    boolean agrees =
        block != null
            && key.partition() == member.getOwnerId()
            && key.firstLong() == member.getOwnerIndex()
            && block.getStripeId() == stripe.getId()
            && block.getStripePosition() == member.getPosition()
            && block.getGenerationStamp() == member.getGenerationStamp()
            && block.getLengthBytes() == member.getLengthBytes();
    if (!agrees) {
      throw new Violation(
          "stripe %d: member %s does not agree with its block %s at %s"
              .formatted(stripe.getId(), member, block, key));
    }
  }

  private static void blockAgrees(Snapshot now, long id, BlockRow block) {
    Key key = now.blockKeys.get(id);
    BlockOwnerRow owner = now.owners.get(id);
    if (owner == null
        || owner.getOwnerId() != key.partition()
        || owner.getIndex() != key.firstLong()) {
      throw new Violation("block %d is owned by %s, its row is at %s".formatted(id, owner, key));
    }
    if (!now.files.contains(key.partition()) && !now.stripes.containsKey(key.partition())) {
      throw new Violation("block %d belongs to %s, which does not exist".formatted(id, key));
    }
    if (block.hasTransitionId() && !now.isActive(block.getTransitionId())) {
      throw new Violation(
          "block %d waits for transition %d, which has ended"
              .formatted(id, block.getTransitionId()));
    }
  }

  private static void ownerAgrees(Snapshot now, long id, BlockOwnerRow owner) {
    if (owner.hasOwnerId() && !now.blocks.containsKey(id)) {
      throw new Violation("block %d is owned by %s, which has no such block".formatted(id, owner));
    }
    if (!owner.hasOwnerId() && !now.isActive(owner.getTransitionId())) {
      throw new Violation(
          "block %d is reserved by transition %d, which has ended"
              .formatted(id, owner.getTransitionId()));
    }
  }

  /**
   * Whether all acknowledged data decodes without some disks. Copies that are to be deleted, or
   * that the namenode does not know, do not count.
   */
  boolean survives(Set<SimDisk> without) throws IOException {
    Snapshot now = snapshot();
    return decodes(
        now,
        (block, disk) ->
            !without.contains(disk) && now.finalized.contains(block.blockId() + "@" + disk.uuid));
  }

  /** The stripes that would not decode without some disks, with all their places; for people. */
  List<String> fatalFor(Set<SimDisk> without) throws IOException {
    Snapshot now = snapshot();
    List<String> fatal = new ArrayList<>();
    for (StripeRow stripe : now.stripes.values()) {
      Set<Integer> lost = now.lost(stripe, (block, disk) -> !without.contains(disk));
      if (!Codes.byName(stripe.getCode()).decodes(lost)) {
        Map<Integer, String> places = new TreeMap<>();
        for (StripeMemberProto member : stripe.getMembersList()) {
          List<SimDisk> disks = now.copyDisks.getOrDefault(member.getBlockId(), List.of());
          places.put(member.getPosition(), disks.stream().map(disk -> disk.uuid).toList() + "");
        }
        fatal.add(stripe.getId() + " in " + stripe.getCode() + " loses " + lost + ": " + places);
      }
    }
    return fatal;
  }

  /** Whether all acknowledged data decodes without one copy of a block. */
  boolean survivesDeletion(SimBlock deleted, SimDisk from) throws IOException {
    return decodes(snapshot(), (block, disk) -> block != deleted || disk != from);
  }

  private boolean decodes(Snapshot now, Counts counts) {
    try {
      everythingDecodes(now, counts);
      return true;
    } catch (Violation e) {
      return false;
    }
  }

  private void everythingDecodes(Snapshot now, Counts counts) {
    Map<Long, Set<Integer>> lostOf = new HashMap<>();
    acknowledged.forEach(
        (file, lengths) ->
            lengths.forEach((id, length) -> decodes(now, file, id, length, counts, lostOf)));
  }

  private static void decodes(
      Snapshot now,
      long file,
      long id,
      long length,
      Counts counts,
      Map<Long, Set<Integer>> lostOf) {
    BlockRow block = now.blocks.get(id);
    if (block == null || now.blockKeys.get(id).partition() != file) {
      throw new Violation("block %d of file %d is not known any more".formatted(id, file));
    }
    List<SimBlock> copies = now.copies.getOrDefault(id, List.of());
    List<SimDisk> disks = now.copyDisks.getOrDefault(id, List.of());
    for (int i = 0; i < copies.size(); i++) {
      if (counts.counts(copies.get(i), disks.get(i))
          && copies.get(i).lengthBytes() == length
          && copies.get(i).content().equals(Content.of(id))) {
        return;
      }
    }
    if (!block.hasStripeId()) {
      throw new Violation("block %d of file %d has no replica left".formatted(id, file));
    }
    StripeRow stripe = now.stripes.get(block.getStripeId());
    ErasureCode code = Codes.byName(stripe.getCode());
    Set<Integer> lost =
        lostOf.computeIfAbsent(stripe.getId(), stripeId -> now.lost(stripe, counts));
    if (!code.decodes(lost)) {
      throw new Violation(
          "block %d of file %d: stripe %d in %s does not decode without %s"
              .formatted(id, file, stripe.getId(), code, lost));
    }
  }

  // ---- at rest ----------------------------------------------------------------------------------

  /** What is left to do, for people; empty at rest. */
  List<String> unfinished() throws IOException {
    Snapshot now = snapshot();
    List<String> unfinished = new ArrayList<>();
    now.transitions.forEach(
        (id, row) -> {
          if (now.isActive(id)) {
            unfinished.add(
                "transition %d %s is %s: %s"
                    .formatted(id, row.getKind(), row.getState(), row.getFailure()));
          }
        });
    now.stripes
        .values()
        .forEach(
            stripe -> {
              Set<Integer> lost = now.lost(stripe, Counts.ALL);
              if (!lost.isEmpty()) {
                unfinished.add("stripe %d lacks %s".formatted(stripe.getId(), lost));
              }
            });
    now.blocks.forEach(
        (id, block) -> {
          int copies = now.copies.getOrDefault(id, List.of()).size();
          int wanted = block.hasStripeId() ? 1 : block.getReplication();
          if (copies != wanted) {
            unfinished.add("block %d has %d copies of %d".formatted(id, copies, wanted));
          }
        });
    now.copies
        .keySet()
        .forEach(
            id -> {
              if (!now.blocks.containsKey(id)) {
                unfinished.add("block " + id + " is on a disk and belongs to nothing");
              }
            });
    now.corrupt.forEach(copy -> unfinished.add("corrupt copy " + copy + " is still there"));
    replicaRowsAgree(now, unfinished);
    return unfinished;
  }

  private void replicaRowsAgree(Snapshot now, List<String> unfinished) {
    Map<String, Integer> rows = new HashMap<>();
    for (Row<ReplicaRow> row : now.replicas) {
      long id = row.key().firstLong();
      String storage = Tables.replicaStorage(row.key());
      if (row.value().getState() != ReplicaStateProto.FINALIZED) {
        unfinished.add("replica of %d on %s is %s".formatted(id, storage, row.value().getState()));
      }
      rows.merge(id + "@" + storage, 1, Integer::sum);
    }
    Set<String> truth = new HashSet<>();
    now.copyDisks.forEach((id, disks) -> disks.forEach(disk -> truth.add(id + "@" + disk.uuid)));
    truth.forEach(
        copy -> {
          if (!rows.containsKey(copy)) {
            unfinished.add("copy " + copy + " has no row");
          }
        });
    rows.forEach(
        (replica, count) -> {
          if (!truth.contains(replica)) {
            unfinished.add("row of replica " + replica + " has no copy");
          } else if (count != 1) {
            unfinished.add("replica " + replica + " is counted " + count + " times");
          }
        });
  }
}
