package io.ebbfs.raid;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.*;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** Stripes with real bytes: a namenode that lists them and chunk servers that verify them. */
public final class FakeStripes implements ChunkChannel {
  private static final int SERVERS = 5;

  public final SortedMap<Long, StripeStatusProto> stripes = new TreeMap<>();
  public final Map<Long, byte[]> bytes = new HashMap<>();
  public final Map<Long, BlockHealthProto> bad = new HashMap<>();
  public final Set<Integer> down = new HashSet<>();
  final List<ReportScrubRequestProto> reports = new ArrayList<>();
  public final SortedMap<String, Long> counters = new TreeMap<>();
  public ScrubStatusProto status;
  public int pages;
  public int combines;

  /** Runs before a stripe is read a second time. */
  public Runnable beforeSecondLook = () -> {};

  /**
   * A stripe whose data is random and of random lengths, with some positions left empty; block ids
   * are stripe * 100 + position.
   */
  public void add(long id, String codeName, Random random) {
    add(id, codeName, random, .125);
  }

  /** The same with a block at every position. */
  public void addFull(long id, String codeName, Random random) {
    add(id, codeName, random, 0);
  }

  private void add(long id, String codeName, Random random, double empty) {
    ErasureCode code = Codes.byName(codeName);
    Set<Integer> data = new TreeSet<>();
    for (int d = 0; d < code.dataCount(); d++) {
      if (d == 0 || random.nextDouble() >= empty) {
        data.add(d);
        byte[] block = new byte[1 + random.nextInt(2000)];
        random.nextBytes(block);
        bytes.put(id * 100 + d, block);
      }
    }
    StripeRow.Builder row =
        StripeRow.newBuilder()
            .setId(id)
            .setCode(codeName)
            .setUnitLengthBytes(2000)
            .setGeneration(1)
            .setPolicy("p")
            .setCreatedMillis(1);
    StripeStatusProto.Builder stripe =
        StripeStatusProto.newBuilder().setLiveBytes(0).setDeadBytes(0).setParityBytes(0);
    for (int p : code.occupied(data)) {
      long block = id * 100 + p;
      if (code.position(p).isParity()) {
        bytes.put(block, parity(code, p, id, data));
      }
      int length = bytes.get(block).length;
      row.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(p)
              .setBlockId(block)
              .setGenerationStamp(1)
              .setLengthBytes(length)
              .setOwnerId(id)
              .setOwnerIndex(p));
      stripe.addStored(
          StoredMemberProto.newBuilder()
              .setPosition(p)
              .setBlock(
                  SourceProto.newBuilder()
                      .setBlock(FakeNamenode.block(block, length))
                      .addLocations(FakeNamenode.location(p % SERVERS))));
    }
    stripes.put(id, stripe.setStripe(row).build());
  }

  private byte[] parity(ErasureCode code, int p, long id, Set<Integer> data) {
    byte[] parity = new byte[(int) code.lengthBytes(p, d -> data.contains(d) ? length(id, d) : 0)];
    for (int d : data) {
      Gf256.addMultiple(parity, code.generator().get(p, d), bytes.get(id * 100 + d));
    }
    return parity;
  }

  private long length(long id, int position) {
    return bytes.get(id * 100 + position).length;
  }

  public void raiseGeneration(long id) {
    StripeStatusProto.Builder stripe = stripes.get(id).toBuilder();
    stripe.getStripeBuilder().setGeneration(stripe.getStripe().getGeneration() + 1);
    stripes.put(id, stripe.build());
  }

  // ---- the namenode ---------------------------------------------------------------------------

  GetClusterResponseProto cluster() {
    GetClusterResponseProto.Builder cluster =
        GetClusterResponseProto.newBuilder()
            .setFiles(0)
            .setLogicalBytes(0)
            .setStoredBytes(0)
            .setUnderReplicatedBlocks(0)
            .setMissingBlocks(0)
            .setUnrecoverableStripes(0)
            .setSafeMode(false);
    if (status != null) {
      cluster.setScrub(status);
    }
    return cluster.build();
  }

  ListStripesResponseProto list(ListStripesRequestProto request) {
    ListStripesResponseProto.Builder response = ListStripesResponseProto.newBuilder();
    if (request.getStripeIdsCount() > 0) {
      beforeSecondLook.run();
      for (long id : request.getStripeIdsList()) {
        if (stripes.containsKey(id)) {
          response.addStripes(stripes.get(id));
        }
      }
      return response.build();
    }
    pages++;
    long after = request.hasCursor() ? Long.parseLong(request.getCursor().toStringUtf8()) : 0;
    for (StripeStatusProto stripe : stripes.tailMap(after + 1).values()) {
      response.addStripes(stripe);
      if (response.getStripesCount() == request.getLimit()) {
        return response
            .setCursor(ByteString.copyFromUtf8(String.valueOf(stripe.getStripe().getId())))
            .build();
      }
    }
    return response.build();
  }

  ReportScrubResponseProto report(ReportScrubRequestProto request) {
    reports.add(request);
    request.getCountsList().forEach(c -> counters.merge(c.getName(), c.getValue(), Long::sum));
    status = request.getStatus();
    return ReportScrubResponseProto.getDefaultInstance();
  }

  public List<ScrubFindingProto> findings() {
    return reports.stream().flatMap(r -> r.getFindingsList().stream()).toList();
  }

  // ---- the chunk servers ----------------------------------------------------------------------

  @Override
  public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto request)
      throws IOException {
    if (down.contains(server.getIpcPort())) {
      throw new IOException("server " + server.getIpcPort() + " is down");
    }
    VerifyResponseProto.Builder response = VerifyResponseProto.newBuilder();
    for (ExtendedBlockProto block : request.getBlocksList()) {
      byte[] data = bytes.get(block.getBlockId());
      BlockHealthProto health = bad.getOrDefault(block.getBlockId(), BlockHealthProto.BLOCK_OK);
      response.addBlocks(
          VerifiedBlockProto.newBuilder()
              .setHealth(health)
              .setLengthBytes(data.length)
              .setCrc32C(crc(data)));
    }
    return response.build();
  }

  @Override
  public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto request) {
    if (!request.getCheck()) {
      throw new IllegalArgumentException("a scrub writes nothing");
    }
    combines++;
    CombineResponseProto.Builder response =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_OK);
    int sources = request.getSourcesCount();
    for (int t = 0; t < request.getTargetsCount(); t++) {
      byte[] sum = new byte[2000];
      for (int s = 0; s < sources; s++) {
        Gf256.addMultiple(
            sum,
            request.getCoefficients().byteAt(t * sources + s) & 0xff,
            bytes.get(request.getSources(s).getBlock().getBlockId()));
      }
      int length = (int) request.getTargets(t).getBlock().getNumBytes();
      response.addTargets(
          CombinedTargetProto.newBuilder()
              .setLengthBytes(length)
              .setCrc32C(crc(Arrays.copyOf(sum, length))));
    }
    return response.build();
  }

  private static int crc(byte[] data) {
    CRC32C crc = new CRC32C();
    crc.update(data);
    return (int) crc.getValue();
  }
}
