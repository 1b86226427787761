package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.verify.simulator.CrashingStore.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Knows the truth about the simulated cluster and says whether a promise is broken. It compares the
 * rows of the namenode with the replicas on the disks:
 *
 * <ul>
 *   <li>every acknowledged block can be read or decoded ({@link DecodeCheck});
 *   <li>every block has one owner, every owner knows its blocks, every mark has a transition, and
 *       every replica of a stripe member holds what the code says ({@link RowConsistencyCheck});
 *   <li>no commit of a transition makes data depend on one more server, and what it publishes
 *       exists ({@link PublicationCheck});
 *   <li>every byte has a use ({@link SpaceCheck});
 *   <li>at rest nothing is lost, superfluous or waiting ({@link RestCheck}).
 * </ul>
 *
 * <p>A check looks only at what has changed since the last one. Used by one thread.
 */
final class Oracle implements CrashingStore.Listener {
  private final MetadataMirror rows = new MetadataMirror();
  private final AcknowledgedFiles acknowledged = new AcknowledgedFiles();
  private final SimReplicaMap replicas;
  private final EventCounts events;
  private final DisturbedAttempts attempts = new DisturbedAttempts(rows);
  private final PublicationCheck publication;
  private final RowConsistencyCheck consistency;
  private final DecodeCheck decoding;
  private final RestCheck rest;
  private final SpaceCheck space = new SpaceCheck(rows, acknowledged);
  private final Set<Long> unchecked = new TreeSet<>();

  Oracle(SimCluster cluster, EventCounts events) {
    this.events = events;
    replicas = cluster.replicas();
    publication = new PublicationCheck(rows, replicas, acknowledged, attempts);
    consistency = new RowConsistencyCheck(rows, replicas);
    decoding = new DecodeCheck(rows, replicas, acknowledged);
    rest = new RestCheck(cluster, rows, decoding);
  }

  MetadataMirror rows() {
    return rows;
  }

  DisturbedAttempts attempts() {
    return attempts;
  }

  DecodeCheck decoding() {
    return decoding;
  }

  RestCheck rest() {
    return rest;
  }

  SpaceCheck space() {
    return space;
  }

  void acknowledge(long fileId, Map<Long, Long> blockLengths) {
    acknowledged.add(fileId, blockLengths);
    unchecked.addAll(blockLengths.keySet());
  }

  /** Called before a file is deleted: afterwards it may exist or not. */
  void forget(long fileId) {
    acknowledged.remove(fileId);
  }

  Set<Long> acknowledgedFiles() {
    return acknowledged.files();
  }

  @Override
  public void committed(List<Write> writes) {
    List<TransitionRow> published = new ArrayList<>();
    for (Write write : writes) {
      if (write.table() == Tables.TRANSITION && write.value() instanceof TransitionRow row) {
        count(row);
        if (row.getState() == TransitionStateProto.DONE && rows.isActive(row.getId())) {
          events.add("published %s to %s".formatted(row.getKind(), row.getToCode()));
          published.add(row);
        }
      }
    }
    Map<Long, Set<String>> before = new TreeMap<>();
    published.forEach(row -> before.putAll(publication.neededServers(row)));
    rows.apply(writes);
    published.forEach(row -> publication.notLessProtected(row, before));
    published.forEach(publication::outputsExist);
  }

  private void count(TransitionRow row) {
    TransitionRow old = rows.transitions.get(row.getId());
    if (old == null || old.getState() != row.getState() || old.getAttempt() != row.getAttempt()) {
      boolean ended = !TransitionIndex.isActive(row.getState());
      events.add((ended ? "ended " : "reached ") + row.getKind() + " " + row.getState());
      if (row.getState() == TransitionStateProto.NO_SPACE
          || row.getState() == TransitionStateProto.NO_DOMAINS) {
        space.endIsExplained(row);
      }
      if (ended && row.getState() == TransitionStateProto.DONE && row.getAttempt() > 1) {
        events.add("after a failed attempt " + row.getKind());
      }
    }
  }

  /** Checks everything, changed or not. */
  void checkAll() {
    rows.touchAll();
    unchecked.addAll(acknowledged.blocks());
    check();
  }

  /** Checks what has changed since the last check. */
  void check() {
    Set<Long> blocks = replicas.takeChanged();
    blocks.addAll(rows.changedBlocks);
    blocks.addAll(unchecked);
    Set<Long> stripes = new TreeSet<>(rows.changedStripes);
    for (long id : blocks) {
      consistency.blockAgrees(id);
      BlockRow row = rows.block(id);
      if (row != null && row.hasStripeId()) {
        stripes.add(row.getStripeId());
      }
    }
    for (long id : stripes) {
      StripeRow stripe = rows.stripes.get(id);
      if (stripe != null) {
        consistency.stripeAgrees(stripe);
        stripe.getMembersList().forEach(member -> blocks.add(member.getBlockId()));
      }
    }
    rows.changedFiles.forEach(consistency::deletedFileAgrees);
    if (rows.changedTransitions.stream().anyMatch(id -> !rows.isActive(id))) {
      consistency.marksAgree();
    }
    decoding.decode(blocks, DecodeCheck.ReplicaFilter.ALL);
    rows.forgetChanges();
    unchecked.clear();
  }
}
