package io.ebbfs.workloads.experiment;

import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;

/** The stripes of a cluster at one moment: which codes blocks are in, and who holds them. */
final class Stripes {
  private final Map<Long, StripeStatusProto> byId = new HashMap<>();
  private final Map<Long, String> codeOfBlock = new HashMap<>();
  private final Map<Long, Integer> holderOfBlock = new HashMap<>();

  private Stripes() {}

  /** Reads the stripes of a cluster. */
  static Stripes of(Bench bench) throws IOException {
    Stripes stripes = new Stripes();
    for (StripeStatusProto stripe : bench.probe().stripesWithLocations()) {
      stripes.byId.put(stripe.getStripe().getId(), stripe);
      for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
        stripes.codeOfBlock.put(member.getBlockId(), stripe.getStripe().getCode());
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

  /** A stripe as it was; null if there was none of this id. */
  StripeStatusProto stripe(long id) {
    return byId.get(id);
  }

  Iterable<StripeStatusProto> all() {
    return byId.values();
  }

  /** What a stripe takes on disks: live data, deleted data and parities. */
  static long storedBytes(StripeStatusProto stripe) {
    return stripe.getLiveBytes() + stripe.getDeadBytes() + stripe.getParityBytes();
  }

  /** The code that a block is in; "" if it is in no stripe. */
  String code(StoredBlock block) {
    return codeOfBlock.getOrDefault(block.id(), "");
  }

  /** The server that a client asks for a block. */
  int holder(StoredBlock block) {
    return holderOfBlock.getOrDefault(block.id(), block.firstHolder());
  }
}
