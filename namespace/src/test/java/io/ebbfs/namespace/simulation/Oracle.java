package io.ebbfs.namespace.simulation;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.coding.SpaceAccount;
import io.ebbfs.namespace.simulation.Copies.Copy;
import io.ebbfs.namespace.simulation.CrashingStore.Write;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.transition.TransitionIndex;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Knows everything, and says whether a promise was broken. It compares the rows with what is truly
 * on the disks:
 *
 * <ul>
 *   <li>every acknowledged block can be read or decoded, by rank;
 *   <li>every member of every stripe holds what its code says, wherever a copy of it is;
 *   <li>every block has one owner, every owner knows its blocks, every mark a transition;
 *   <li>no commit of a transition makes data depend on one more server, and what it publishes is
 *       there;
 *   <li>once everything has come to rest: nothing is lost, nothing is left over, nothing waits.
 * </ul>
 *
 * <p>A check looks at what changed since the one before. Used by one thread.
 */
final class Oracle implements CrashingStore.Listener {
  /** Which copies of blocks are taken into account. */
  interface Counts {
    Counts ALL = copy -> true;

    boolean counts(Copy copy);
  }

  private final Rows rows = new Rows();
  private final Copies copies;
  private final SimCluster cluster;
  private final Tally tally;
  // What clients were told is safe: block ids with their lengths, by file; and the file by block.
  private final Map<Long, Map<Long, Long>> acknowledged = new TreeMap<>();
  private final Map<Long, Long> fileOf = new HashMap<>();
  private final Set<Long> doubtful = new TreeSet<>();
  // Attempts during which something was destroyed, by transition and number.
  private final Set<String> hitAttempts = new HashSet<>();
  private boolean room;

  Oracle(SimCluster cluster, Tally tally) {
    this.cluster = cluster;
    this.copies = cluster.copies();
    this.tally = tally;
  }

  Rows rows() {
    return rows;
  }

  void acknowledge(long fileId, Map<Long, Long> blockLengths) {
    acknowledged.put(fileId, blockLengths);
    blockLengths.keySet().forEach(id -> fileOf.put(id, fileId));
    doubtful.addAll(blockLengths.keySet());
  }

  /** Called before a file is deleted: from then on it may be gone or not. */
  void forget(long fileId) {
    Map<Long, Long> lengths = acknowledged.remove(fileId);
    if (lengths != null) {
      fileOf.keySet().removeAll(lengths.keySet());
    }
  }

  Set<Long> acknowledgedFiles() {
    return acknowledged.keySet();
  }

  // ---- at every commit --------------------------------------------------------------------------

  @Override
  public void committed(List<Write> writes) {
    List<TransitionRow> published = new ArrayList<>();
    for (Write write : writes) {
      if (write.table() == Tables.TRANSITION && write.value() instanceof TransitionRow row) {
        count(row);
        if (row.getState() == TransitionStateProto.DONE && rows.isActive(row.getId())) {
          tally.add("published %s to %s".formatted(row.getKind(), row.getToCode()));
          published.add(row);
        }
      }
    }
    Map<Long, Set<String>> before = new TreeMap<>();
    published.forEach(row -> before.putAll(neededServers(row)));
    rows.apply(writes);
    published.forEach(row -> notLessProtected(row, before));
    published.forEach(this::outputsAreThere);
  }

  private void count(TransitionRow row) {
    TransitionRow old = rows.transitions.get(row.getId());
    if (old == null || old.getState() != row.getState() || old.getAttempt() != row.getAttempt()) {
      boolean ended = !TransitionIndex.isActive(row.getState());
      tally.add((ended ? "ended " : "reached ") + row.getKind() + " " + row.getState());
      if (row.getState() == TransitionStateProto.NO_SPACE
          || row.getState() == TransitionStateProto.NO_DOMAINS) {
        endIsNamed(row);
      }
      if (ended && row.getState() == TransitionStateProto.DONE && row.getAttempt() > 1) {
        tally.add("after a failed attempt " + row.getKind());
      }
    }
  }

  /**
   * The servers that each acknowledged block of a transition depends on, as far as the namenode
   * knows. What a repair rebuilds was lost, though its rows on dead servers are still there.
   */
  private Map<Long, Set<String>> neededServers(TransitionRow row) {
    Set<Long> rebuilt = new HashSet<>();
    if (row.getKind() == TransitionKindProto.REPAIR) {
      row.getOutputsList().forEach(output -> rebuilt.add(output.getBlockId()));
    }
    Set<Long> blocks = new TreeSet<>();
    row.getBlocksList().forEach(block -> blocks.add(block.getBlockId()));
    row.getStripesList().stream()
        .map(stripe -> rows.stripes.get(stripe.getStripeId()))
        .filter(stripe -> stripe != null)
        .forEach(stripe -> stripe.getMembersList().forEach(m -> blocks.add(m.getBlockId())));
    blocks.retainAll(fileOf.keySet());
    Map<Long, Set<String>> needed = new TreeMap<>();
    Map<Long, Set<String>> byStripe = new HashMap<>();
    for (long id : blocks) {
      needed.put(id, neededServers(id, rebuilt, byStripe));
    }
    return needed;
  }

  private Set<String> neededServers(long blockId, Set<Long> lost, Map<Long, Set<String>> byStripe) {
    Set<String> servers = serversOf(blockId, lost);
    BlockRow block = rows.block(blockId);
    if (servers.size() > 1 || block == null) {
      return Set.of();
    }
    if (!block.hasStripeId() || !rows.stripes.containsKey(block.getStripeId())) {
      return servers;
    }
    Set<String> ofStripe =
        byStripe.computeIfAbsent(
            block.getStripeId(), id -> fatalServers(rows.stripes.get(id), lost));
    if (servers.isEmpty()) {
      return ofStripe;
    }
    servers.retainAll(ofStripe);
    return servers;
  }

  private Set<String> serversOf(long blockId, Set<Long> lost) {
    Set<String> servers = new HashSet<>();
    if (!lost.contains(blockId)) {
      rows.storagesOf(blockId).forEach(storage -> servers.add(copies.serverOf(storage)));
    }
    return servers;
  }

  /** Servers without which a stripe does not decode, as far as the namenode knows. */
  private Set<String> fatalServers(StripeRow stripe, Set<Long> lostBlocks) {
    ErasureCode code = Codes.byName(stripe.getCode());
    Set<Integer> lost = new TreeSet<>();
    Map<String, Set<Integer>> only = new TreeMap<>();
    for (StripeMemberProto member : stripe.getMembersList()) {
      Set<String> servers = serversOf(member.getBlockId(), lostBlocks);
      if (servers.isEmpty()) {
        lost.add(member.getPosition());
      } else if (servers.size() == 1) {
        only.computeIfAbsent(servers.iterator().next(), s -> new TreeSet<>())
            .add(member.getPosition());
      }
    }
    Set<String> fatal = new TreeSet<>();
    only.forEach(
        (server, positions) -> {
          positions.addAll(lost);
          if (!code.decodes(positions)) {
            fatal.add(server);
          }
        });
    return fatal;
  }

  /** Unless something was destroyed meanwhile, what is published was written. */
  private void outputsAreThere(TransitionRow row) {
    if (hitAttempts.contains(attempt(row))) {
      return;
    }
    for (TransitionOutputProto output : row.getOutputsList()) {
      String server = copies.serverOf(output.getStorageUuid());
      if (copies.of(output.getBlockId()).stream()
          .noneMatch(copy -> copy.disk().serverUuid.equals(server))) {
        throw new Violation(
            "%s %d published block %d on %s, which is not there"
                .formatted(
                    row.getKind(), row.getId(), output.getBlockId(), output.getStorageUuid()));
      }
    }
  }

  private void notLessProtected(TransitionRow row, Map<Long, Set<String>> before) {
    Map<Long, Set<String>> byStripe = new HashMap<>();
    before.forEach(
        (id, needed) -> {
          Set<String> more = new TreeSet<>(neededServers(id, Set.of(), byStripe));
          more.removeAll(needed);
          if (!more.isEmpty()) {
            throw new Violation(
                "%s %d to %s published: block %d now depends on %s, before on %s: %s"
                    .formatted(
                        row.getKind(), row.getId(), row.getToCode(), id, more, needed, places(id)));
          }
        });
  }

  /** Where the members of a block's stripe are, as far as the namenode knows; for people. */
  private String places(long blockId) {
    StripeRow stripe = rows.stripes.get(rows.block(blockId).getStripeId());
    Map<Integer, Set<String>> places = new TreeMap<>();
    if (stripe != null) {
      for (StripeMemberProto member : stripe.getMembersList()) {
        places.put(member.getPosition(), rows.storagesOf(member.getBlockId()));
      }
    }
    return places.toString();
  }

  // ---- after every step -------------------------------------------------------------------------

  /** Looks at everything, changed or not. */
  void checkAll() {
    rows.touchAll();
    doubtful.addAll(fileOf.keySet());
    check();
  }

  void check() {
    Set<Long> blocks = copies.takeChanged();
    blocks.addAll(rows.changedBlocks);
    blocks.addAll(doubtful);
    Set<Long> stripes = new TreeSet<>(rows.changedStripes);
    for (long id : blocks) {
      blockAgrees(id);
      BlockRow row = rows.block(id);
      if (row != null && row.hasStripeId()) {
        stripes.add(row.getStripeId());
      }
    }
    for (long id : stripes) {
      StripeRow stripe = rows.stripes.get(id);
      if (stripe != null) {
        stripeAgrees(stripe);
        stripe.getMembersList().forEach(member -> blocks.add(member.getBlockId()));
      }
    }
    rows.changedFiles.forEach(this::ownsNothing);
    if (rows.changedTransitions.stream().anyMatch(id -> !rows.isActive(id))) {
      marksAgree();
    }
    decode(blocks, Counts.ALL);
    rows.forgetChanges();
    doubtful.clear();
  }

  private void ownsNothing(long fileId) {
    if (!rows.files.contains(fileId)) {
      rows.blocks.forEach(
          (key, block) -> {
            if (key.partition() == fileId) {
              blockAgrees(block.getBlockId());
            }
          });
    }
  }

  private void marksAgree() {
    rows.blocks.values().forEach(block -> markAgrees(block));
    rows.owners.forEach(this::reservationAgrees);
    for (StripeRow stripe : rows.stripes.values()) {
      markAgrees(stripe);
    }
  }

  private void markAgrees(BlockRow block) {
    if (block.hasTransitionId() && !rows.isActive(block.getTransitionId())) {
      throw new Violation(
          "block %d waits for transition %d, which has ended"
              .formatted(block.getBlockId(), block.getTransitionId()));
    }
  }

  private void markAgrees(StripeRow stripe) {
    if (stripe.hasTransitionId() && !rows.isActive(stripe.getTransitionId())) {
      throw new Violation(
          "stripe %d waits for transition %d, which has ended"
              .formatted(stripe.getId(), stripe.getTransitionId()));
    }
  }

  private void reservationAgrees(long id, BlockOwnerRow owner) {
    if (!owner.hasOwnerId() && !rows.isActive(owner.getTransitionId())) {
      throw new Violation(
          "block %d is reserved by transition %d, which has ended"
              .formatted(id, owner.getTransitionId()));
    }
  }

  private void blockAgrees(long id) {
    BlockOwnerRow owner = rows.owners.get(id);
    Key key = rows.keyOf(id);
    if (key == null) {
      if (owner != null && owner.hasOwnerId()) {
        throw new Violation(
            "block %d is owned by %s, which has no such block".formatted(id, owner));
      }
      if (owner != null) {
        reservationAgrees(id, owner);
      }
      return;
    }
    if (owner == null
        || owner.getOwnerId() != key.partition()
        || owner.getIndex() != key.firstLong()) {
      throw new Violation("block %d is owned by %s, its row is at %s".formatted(id, owner, key));
    }
    if (!rows.files.contains(key.partition()) && !rows.stripes.containsKey(key.partition())) {
      throw new Violation("block %d belongs to %s, which does not exist".formatted(id, key));
    }
    BlockRow block = rows.blocks.get(key);
    markAgrees(block);
    if (block.hasStripeId() && !rows.hasMember(block.getStripeId(), id)) {
      throw new Violation(
          "block %d says it is in stripe %d, which does not have it"
              .formatted(id, block.getStripeId()));
    }
  }

  private void stripeAgrees(StripeRow stripe) {
    markAgrees(stripe);
    ErasureCode code = Codes.byName(stripe.getCode());
    Map<Integer, Long> data = new TreeMap<>();
    Set<Integer> positions = new TreeSet<>();
    for (StripeMemberProto member : stripe.getMembersList()) {
      if (code.position(member.getPosition()).isData()) {
        data.put(member.getPosition(), member.getBlockId());
      }
      if (!positions.add(member.getPosition())) {
        throw new Violation("stripe " + stripe.getId() + " has two members at one position");
      }
      memberAgrees(stripe, member);
    }
    for (StripeMemberProto member : stripe.getMembersList()) {
      contentIsRight(stripe, code, data, member);
    }
    if (!positions.equals(code.occupied(data.keySet()))) {
      throw new Violation(
          "stripe %d in %s has members at %s, its data needs %s"
              .formatted(stripe.getId(), code, positions, code.occupied(data.keySet())));
    }
  }

  private void memberAgrees(StripeRow stripe, StripeMemberProto member) {
    BlockRow block = rows.block(member.getBlockId());
    Key key = rows.keyOf(member.getBlockId());
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

  private void contentIsRight(
      StripeRow stripe, ErasureCode code, Map<Integer, Long> data, StripeMemberProto member) {
    Map<Long, Integer> terms = new TreeMap<>();
    data.forEach(
        (position, blockId) -> {
          int coefficient = code.generator().get(member.getPosition(), position);
          if (coefficient != 0) {
            terms.put(blockId, coefficient);
          }
        });
    Content expected = new Content(terms);
    for (Copy copy : copies.of(member.getBlockId())) {
      SimBlock block = copy.block();
      // What the namenode does not trust, nobody reads.
      if (rows.replicaRows(block.blockId(), copy.disk().uuid) > 0
          && block.is(member.getGenerationStamp(), member.getLengthBytes())
          && !block.content().equals(expected)) {
        throw new Violation(
            "stripe %d in %s, position %d: block %d holds %s, should hold %s"
                .formatted(
                    stripe.getId(),
                    code,
                    member.getPosition(),
                    block.blockId(),
                    block.content(),
                    expected));
      }
    }
  }

  // ---- whether data decodes ---------------------------------------------------------------------

  /**
   * Whether all acknowledged data decodes without some disks. Copies that are to be deleted, or
   * that the namenode does not know, do not count.
   */
  boolean survives(Set<SimDisk> without) {
    return decodes(
        fileOf.keySet(),
        copy ->
            !without.contains(copy.disk())
                && rows.replicaRows(copy.block().blockId(), copy.disk().uuid) > 0);
  }

  /**
   * Whether the namenode believes in a member of a stripe that is not there. No code survives more
   * losses than it was made for, and what the namenode has not heard of, it may build on.
   */
  boolean anyHiddenLoss() {
    for (StripeRow stripe : rows.stripes.values()) {
      for (StripeMemberProto member : stripe.getMembersList()) {
        Set<String> believed = rows.storagesOf(member.getBlockId());
        if (believed.size() > there(member, believed)) {
          return true;
        }
      }
    }
    return false;
  }

  private long there(StripeMemberProto member, Set<String> storages) {
    return copies.of(member.getBlockId()).stream()
        .filter(copy -> storages.contains(copy.disk().uuid))
        .count();
  }

  /** The attempts that are running, by transition and number. */
  Set<String> runningAttempts() {
    Set<String> running = new TreeSet<>();
    for (TransitionRow row : rows.transitions.values()) {
      if (row.getState() == TransitionStateProto.RUNNING) {
        running.add(attempt(row));
      }
    }
    return running;
  }

  private static String attempt(TransitionRow row) {
    return row.getId() + "/" + row.getAttempt();
  }

  /** Something is destroyed while these attempts run. */
  void hit(Set<String> attempts) {
    hitAttempts.addAll(attempts);
  }

  /** Whether something was destroyed since one of these attempts began. */
  boolean isHit(Set<String> attempts) {
    return attempts.stream().anyMatch(hitAttempts::contains);
  }

  /** Whether all acknowledged data decodes without one copy of a block. */
  boolean survivesDeletion(SimBlock deleted, SimDisk from) {
    Set<Long> concerned = new TreeSet<>(Set.of(deleted.blockId()));
    BlockRow row = rows.block(deleted.blockId());
    if (row != null && rows.stripes.containsKey(row.getStripeId())) {
      rows.stripes
          .get(row.getStripeId())
          .getMembersList()
          .forEach(member -> concerned.add(member.getBlockId()));
    }
    return decodes(concerned, copy -> copy.block() != deleted || copy.disk() != from);
  }

  private boolean decodes(Set<Long> blocks, Counts counts) {
    try {
      decode(blocks, counts);
      return true;
    } catch (Violation e) {
      return false;
    }
  }

  /** Those of the blocks that are acknowledged. */
  private void decode(Set<Long> blocks, Counts counts) {
    Map<Long, Set<Integer>> lostOf = new HashMap<>();
    for (long id : blocks) {
      Long file = fileOf.get(id);
      if (file != null) {
        decode(file, id, acknowledged.get(file).get(id), counts, lostOf);
      }
    }
  }

  private void decode(
      long file, long id, long length, Counts counts, Map<Long, Set<Integer>> lostOf) {
    BlockRow block = rows.block(id);
    if (block == null || rows.keyOf(id).partition() != file) {
      throw new Violation("block %d of file %d is not known any more".formatted(id, file));
    }
    for (Copy copy : copies.of(id)) {
      if (counts.counts(copy)
          && copy.block().lengthBytes() == length
          && copy.block().content().equals(Content.of(id))) {
        return;
      }
    }
    if (!block.hasStripeId()) {
      throw new Violation("block %d of file %d has no replica left".formatted(id, file));
    }
    StripeRow stripe = rows.stripes.get(block.getStripeId());
    ErasureCode code = Codes.byName(stripe.getCode());
    Set<Integer> lost = lostOf.computeIfAbsent(stripe.getId(), s -> lost(stripe, counts));
    if (!code.decodes(lost)) {
      throw new Violation(
          "block %d of file %d: stripe %d in %s does not decode without %s"
              .formatted(id, file, stripe.getId(), code, lost));
    }
  }

  /** Positions of which no whole copy counts. */
  private Set<Integer> lost(StripeRow stripe, Counts counts) {
    Set<Integer> lost = new TreeSet<>();
    for (StripeMemberProto member : stripe.getMembersList()) {
      boolean there = false;
      for (Copy copy : copies.of(member.getBlockId())) {
        there |=
            counts.counts(copy)
                && copy.block().is(member.getGenerationStamp(), member.getLengthBytes());
      }
      if (!there) {
        lost.add(member.getPosition());
      }
    }
    return lost;
  }

  // ---- at rest ----------------------------------------------------------------------------------

  /** The stripes that would not decode without some disks, with all their places; for people. */
  List<String> fatalFor(Set<SimDisk> without) {
    List<String> fatal = new ArrayList<>();
    for (StripeRow stripe : rows.stripes.values()) {
      Set<Integer> lost = lost(stripe, copy -> !without.contains(copy.disk()));
      if (!Codes.byName(stripe.getCode()).decodes(lost)) {
        Map<Integer, String> places = new TreeMap<>();
        for (StripeMemberProto member : stripe.getMembersList()) {
          places.put(member.getPosition(), copies.of(member.getBlockId()) + "");
        }
        fatal.add(stripe.getId() + " in " + stripe.getCode() + " loses " + lost + ": " + places);
      }
    }
    return fatal;
  }

  /** What is left to do, for people; empty at rest. */
  List<String> unfinished() {
    List<String> unfinished = new ArrayList<>();
    rows.transitions
        .values()
        .forEach(
            row -> {
              if (rows.isActive(row.getId())) {
                unfinished.add(
                    "transition %d %s is %s: %s"
                        .formatted(row.getId(), row.getKind(), row.getState(), row.getFailure()));
              }
            });
    for (StripeRow stripe : rows.stripes.values()) {
      Set<Integer> lost = lost(stripe, Counts.ALL);
      if (!lost.isEmpty()) {
        unfinished.add("stripe %d lacks %s".formatted(stripe.getId(), lost));
      }
    }
    for (BlockRow block : rows.blocks.values()) {
      int found = copies.of(block.getBlockId()).size();
      int wanted = block.hasStripeId() ? 1 : block.getReplication();
      if (found != wanted) {
        unfinished.add(
            "block %d has %d copies of %d: %s"
                .formatted(block.getBlockId(), found, wanted, copies.of(block.getBlockId())));
      }
    }
    for (long id : copies.blockIds()) {
      if (rows.keyOf(id) == null) {
        unfinished.add("block " + id + " is on a disk and belongs to nothing");
      }
    }
    copies.corrupt().forEach(c -> unfinished.add("corrupt copy " + c + " is still there"));
    replicaRowsAgree(unfinished);
    return unfinished;
  }

  private void replicaRowsAgree(List<String> unfinished) {
    rows.replicas.forEach(
        (key, row) -> {
          long id = key.firstLong();
          String storage = Tables.replicaStorage(key);
          if (cluster.server(copies.serverOf(storage)) == null) {
            return; // of a server that left: kept in case that it comes back
          }
          List<Copy> there =
              copies.of(id).stream().filter(c -> c.disk().uuid.equals(storage)).toList();
          if (there.isEmpty()) {
            unfinished.add("row of replica %d@%s has no copy".formatted(id, storage));
          } else if (rows.replicaRows(id, storage) != 1
              || !there.get(0).block().is(row.getGenerationStamp(), row.getLengthBytes())) {
            unfinished.add(
                "replica %s is %s of %d bytes and has %d rows"
                    .formatted(
                        there,
                        row.getState(),
                        row.getLengthBytes(),
                        rows.replicaRows(id, storage)));
          }
        });
    for (long id : copies.blockIds()) {
      for (Copy copy : copies.of(id)) {
        if (rows.replicaRows(id, copy.disk().uuid) == 0) {
          unfinished.add("copy " + copy + " has no row");
        }
      }
    }
  }

  boolean anyActive() {
    return rows.transitions.values().stream()
        .anyMatch(row -> TransitionIndex.isActive(row.getState()));
  }

  // ---- space ------------------------------------------------------------------------------------

  /** From now on, no transition may end for lack of space. */
  void disksHaveRoom() {
    room = true;
  }

  /** Acknowledged files of encodings that ended for lack of space or servers. */
  List<Long> refusedFiles() {
    Set<Long> files = new TreeSet<>();
    for (TransitionRow row : rows.transitions.values()) {
      if (row.getState() == TransitionStateProto.NO_SPACE
          || row.getState() == TransitionStateProto.NO_DOMAINS) {
        row.getBlocksList().forEach(block -> files.add(block.getOwnerId()));
      }
    }
    files.retainAll(acknowledged.keySet());
    return List.copyOf(files);
  }

  private void endIsNamed(TransitionRow row) {
    boolean space = row.getState() == TransitionStateProto.NO_SPACE;
    if (space && room) {
      throw new Violation("all disks have room, and yet " + row);
    }
    if (space != row.getMissingBytes() > 0 || row.getFailure().isEmpty()) {
      throw new Violation("does not say what is missing: " + row);
    }
  }

  /** What all bytes that rows know are for: by the members of stripes, not by rows of blocks. */
  SpaceAccount spaceAccount() {
    long live = 0;
    long dead = 0;
    long parity = 0;
    long replicated = 0;
    long leaving = 0;
    Map<Long, StripeMemberProto> members = new HashMap<>();
    Set<Long> parities = new HashSet<>();
    for (StripeRow stripe : rows.stripes.values()) {
      ErasureCode code = Codes.byName(stripe.getCode());
      for (StripeMemberProto member : stripe.getMembersList()) {
        members.put(member.getBlockId(), member);
        if (code.position(member.getPosition()).isParity()) {
          parities.add(member.getBlockId());
        }
      }
    }
    for (Map.Entry<Key, ReplicaRow> entry : rows.replicas.entrySet()) {
      long id = entry.getKey().firstLong();
      long bytes = entry.getValue().getLengthBytes();
      Key key = rows.keyOf(id);
      if (entry.getValue().getState() != ReplicaStateProto.FINALIZED
          || key == null
          || key.partition() != entry.getKey().partition()) {
        leaving += bytes;
      } else if (!members.containsKey(id)) {
        replicated += bytes;
      } else if (parities.contains(id)) {
        parity += bytes;
      } else if (members.get(id).getTombstone()) {
        dead += bytes;
      } else {
        live += bytes;
      }
    }
    return new SpaceAccount(live, dead, parity, replicated, leaving, reserved());
  }

  /** What running transitions write and no row counts. */
  private long reserved() {
    long bytes = 0;
    for (TransitionRow row : rows.transitions.values()) {
      if (row.getState() == TransitionStateProto.RUNNING) {
        for (TransitionOutputProto output : row.getOutputsList()) {
          BlockOwnerRow owner = rows.owners.get(output.getBlockId());
          boolean counted =
              owner != null
                  && owner.hasOwnerId()
                  && rows.replicas.containsKey(
                      Tables.replica(
                          owner.getOwnerId(), output.getBlockId(), output.getStorageUuid()));
          bytes += counted ? 0 : output.getLengthBytes();
        }
      }
    }
    return bytes;
  }

  /** The bytes of all blocks on the disks of the cluster. */
  long bytesOnDisks() {
    return cluster.servers().stream()
        .flatMap(server -> server.disks().stream())
        .mapToLong(SimDisk::used)
        .sum();
  }
}
