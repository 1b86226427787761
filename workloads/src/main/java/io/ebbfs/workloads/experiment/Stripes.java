package io.ebbfs.workloads.experiment;

import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.HdfsBlockLocation;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/** Which blocks files have, and which codes the blocks are in, at one moment. */
final class Stripes {
  /**
   * A block of a file.
   *
   * @param file its path
   * @param code "" if it is in no stripe
   * @param holder the server that a client asks first
   */
  record Block(long id, String file, long offset, long bytes, String code, int holder) {}

  private final Map<Long, StripeStatusProto> byId = new HashMap<>();
  private final Map<Long, String> codeOfBlock = new HashMap<>();

  private Stripes() {}

  /** Reads the stripes of a cluster. */
  static Stripes of(Bench bench) throws IOException {
    Stripes stripes = new Stripes();
    for (StripeStatusProto stripe : bench.probe().stripes()) {
      stripes.byId.put(stripe.getStripe().getId(), stripe);
      for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
        stripes.codeOfBlock.put(member.getBlockId(), stripe.getStripe().getCode());
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

  /** The blocks of a file. */
  List<Block> blocks(Bench bench, String file, long length) throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (BlockLocation location :
        bench.files().getFileBlockLocations(new Path(file), 0, Math.max(1, length))) {
      LocatedBlock block = ((HdfsBlockLocation) location).getLocatedBlock();
      long id = block.getBlock().getBlockId();
      DatanodeInfo[] places = block.getLocations();
      blocks.add(
          new Block(
              id,
              file,
              location.getOffset(),
              location.getLength(),
              codeOfBlock.getOrDefault(id, ""),
              places.length == 0
                  ? -1
                  : bench.server(places[0].getIpAddr(), places[0].getIpcPort())));
    }
    return blocks;
  }
}
