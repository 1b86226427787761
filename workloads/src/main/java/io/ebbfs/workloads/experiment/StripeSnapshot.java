package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;

/** The stripes of a cluster at one moment, with the code and the server of each block. */
final class StripeSnapshot {
  private final Map<Long, StripeStatusProto> byId = new HashMap<>();
  private final Map<Long, String> codeOfBlock = new HashMap<>();
  private final Map<Long, Long> stripeOfBlock = new HashMap<>();
  private final Map<Long, Integer> holderOfBlock = new HashMap<>();

  private StripeSnapshot() {}

  /** Reads the stripes of a cluster. */
  static StripeSnapshot of(Bench bench) throws IOException {
    StripeSnapshot stripes = new StripeSnapshot();
    for (StripeStatusProto stripe : bench.probe().stripesWithLocations()) {
      stripes.byId.put(stripe.getStripe().getId(), stripe);
      for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
        stripes.codeOfBlock.put(member.getBlockId(), stripe.getStripe().getCode());
        stripes.stripeOfBlock.put(member.getBlockId(), stripe.getStripe().getId());
      }
      for (StoredMemberProto stored : stripe.getStoredList()) {
        if (stored.getBlock().getLocationsCount() > 0) {
          DatanodeIDProto server = stored.getBlock().getLocations(0).getServer();
          stripes.holderOfBlock.put(
              stored.getBlock().getBlock().getBlockId(),
              bench.server(server.getIpAddr(), server.getIpcPort()));
        }
      }
    }
    return stripes;
  }

  /** A stripe by its id; null if there was none. */
  StripeStatusProto stripe(long id) {
    return byId.get(id);
  }

  Iterable<StripeStatusProto> all() {
    return byId.values();
  }

  /** The bytes of a stripe on disks: live data, deleted data and parities. */
  static long storedBytes(StripeStatusProto stripe) {
    return stripe.getLiveBytes() + stripe.getDeadBytes() + stripe.getParityBytes();
  }

  /**
   * The number of blocks that a plan reads to compute positions of a stripe.
   *
   * @param unavailable other positions that cannot be read
   */
  static long plannedReads(
      StripeStatusProto stripe, Set<Integer> wanted, Set<Integer> unavailable) {
    Set<Integer> present = new HashSet<>();
    stripe.getStripe().getMembersList().forEach(member -> present.add(member.getPosition()));
    return Planner.repair(
            Codes.byName(stripe.getStripe().getCode()),
            present,
            wanted,
            unavailable,
            ReadCost.UNIFORM)
        .stream()
        .mapToInt(CombinePlan::reads)
        .sum();
  }

  /**
   * The theoretical cost of a read of an encoded block whose holder is dead. Of a source that is
   * longer than the block, only as many bytes as the block has are read.
   */
  DegradedRead degradedRead(FileBlock block) {
    StripeStatusProto stripe = byId.get(stripeOfBlock.get(block.id()));
    Map<Integer, Long> bytes = new HashMap<>();
    Map<Integer, Integer> servers = new HashMap<>();
    int wanted = -1;
    for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
      int position = member.getPosition();
      bytes.put(position, Math.min(member.getLengthBytes(), block.bytes()));
      Integer server = holderOfBlock.get(member.getBlockId());
      if (member.getBlockId() == block.id()) {
        wanted = position;
        server = holder(block);
      }
      if (server != null) {
        servers.put(position, server);
      }
    }
    return DegradedRead.of(Codes.byName(stripe.getStripe().getCode()), bytes, servers, wanted);
  }

  /** The code that a block is in; "" if it is in no stripe. */
  String code(FileBlock block) {
    return codeOfBlock.getOrDefault(block.id(), "");
  }

  /** The server that a client asks for a block. */
  int holder(FileBlock block) {
    return holderOfBlock.getOrDefault(block.id(), block.firstHolder());
  }
}
