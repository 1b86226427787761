package io.ebbfs.verify.simulator;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Checks each commit of a transition: its outputs exist, and no data depends on one more server
 * than before.
 */
final class PublicationCheck {
  private final MetadataMirror rows;
  private final SimReplicaMap replicas;
  private final AcknowledgedFiles acknowledged;
  private final DisturbedAttempts attempts;

  PublicationCheck(
      MetadataMirror rows,
      SimReplicaMap replicas,
      AcknowledgedFiles acknowledged,
      DisturbedAttempts attempts) {
    this.rows = rows;
    this.replicas = replicas;
    this.acknowledged = acknowledged;
    this.attempts = attempts;
  }

  /**
   * The servers on which each acknowledged block of a transition depends, as far as the namenode
   * knows. The blocks that a repair rebuilds count as lost, even if dead servers have rows of them.
   */
  Map<Long, Set<String>> neededServers(TransitionRow row) {
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
    blocks.retainAll(acknowledged.blocks());
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
      rows.storagesOf(blockId).forEach(storage -> servers.add(replicas.serverOf(storage)));
    }
    return servers;
  }

  /** The servers without which a stripe does not decode, as far as the namenode knows. */
  private Set<String> fatalServers(StripeRow stripe, Set<Long> lostBlocks) {
    ErasureCode code = SimCodes.REGISTRY.byName(stripe.getCode());
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

  /** The published outputs exist, unless something was destroyed meanwhile. */
  void outputsExist(TransitionRow row) {
    if (attempts.isDisturbed(row)) {
      return;
    }
    for (TransitionOutputProto output : row.getOutputsList()) {
      String server = replicas.serverOf(output.getStorageUuid());
      if (replicas.of(output.getBlockId()).stream()
          .noneMatch(replica -> replica.disk().serverUuid.equals(server))) {
        throw new Violation(
            "%s %d published block %d on %s, which does not have it"
                .formatted(
                    row.getKind(), row.getId(), output.getBlockId(), output.getStorageUuid()));
      }
    }
  }

  /** No block depends on a server on which it did not depend before. */
  void notLessProtected(TransitionRow row, Map<Long, Set<String>> before) {
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

  /** The places of the members of a block's stripe, as far as the namenode knows; for people. */
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
}
