package io.ebbfs.namespace.simulation;

import io.ebbfs.coding.Gf256;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/** All simulated chunk servers. They combine coefficients instead of bytes. */
final class SimCluster {
  private final Map<String, SimServer> servers = new java.util.TreeMap<>();
  // The lengths of all data blocks ever written, by id.
  private final Map<Long, Long> dataLengths = new HashMap<>();

  private final Copies copies = new Copies();
  private final World world;
  private final Tally tally;
  private final Bug bug;
  private long diskBytes;
  private int made;
  // How many of the next outputs come out wrong, unnoticed by whoever computes them.
  private int wrongOutputs;

  SimCluster(World world, Tally tally, Bug bug) {
    this.world = world;
    this.tally = tally;
    this.bug = bug;
    diskBytes = world.diskBytes();
    for (int s = 0; s < world.servers(); s++) {
      join();
    }
  }

  /** All disks, and those to come, get larger. */
  void grow() {
    diskBytes = World.ROOMY;
    servers.values().forEach(server -> server.resizeDisks(diskBytes));
  }

  boolean isTight() {
    return diskBytes < World.ROOMY;
  }

  List<SimServer> servers() {
    return List.copyOf(servers.values());
  }

  SimServer server(String uuid) {
    return servers.get(uuid);
  }

  /** The next output of a combine is computed with a wrong coefficient. */
  void plantWrongOutput() {
    wrongOutputs = 1;
  }

  /**
   * What nobody checks is not computed wrong: an old combine that arrives late after its block has
   * vanished puts it back, and only the scrub of equations would see that it is wrong.
   */
  void withRightOutputs(Runnable combine) {
    int planted = wrongOutputs;
    wrongOutputs = 0;
    combine.run();
    wrongOutputs = planted;
  }

  Copies copies() {
    return copies;
  }

  /** A new, empty server. */
  SimServer join() {
    SimServer server = new SimServer(made++, world.disksPerServer(), diskBytes, copies, bug);
    servers.put(server.uuid(), server);
    return server;
  }

  /** A server goes for good, with all that it has. */
  void leave(SimServer server) {
    server.crash();
    server.disks().forEach(SimDisk::clear);
    servers.remove(server.uuid());
  }

  /** A client writes a block of a file. */
  SimBlock write(long blockId, long generationStamp, long lengthBytes) {
    dataLengths.put(blockId, lengthBytes);
    return new SimBlock(blockId, generationStamp, lengthBytes, Content.of(blockId));
  }

  /** Those of the places of a source whose server is up and does not have the block whole. */
  List<BlockLocationProto> badLocations(SourceProto source) {
    return source.getLocationsList().stream()
        .filter(
            location -> {
              SimServer server = servers.get(location.getServer().getDatanodeUuid());
              return server != null
                  && server.answers()
                  && read(source.toBuilder().clearLocations().addLocations(location).build())
                      == null;
            })
        .toList();
  }

  // ---- combine
  // -----------------------------------------------------------------------------------

  /**
   * Combines at an executor.
   *
   * @param writes how many targets are written before the executor dies; all if there are fewer
   * @return empty if the executor died or is down: no answer comes
   */
  java.util.Optional<CombineResponseProto> combine(
      String executorUuid, CombineRequestProto request, int writes) {
    SimServer executor = servers.get(executorUuid);
    if (executor == null || !executor.answers()) {
      return java.util.Optional.empty();
    }
    List<SimBlock> sources = new ArrayList<>();
    CombineResponseProto.Builder failure =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_SOURCE_FAILED);
    for (int s = 0; s < request.getSourcesCount(); s++) {
      SimBlock block = read(request.getSources(s));
      sources.add(block);
      if (block == null) {
        failure.addFailedSources(
            CombineFailureProto.newBuilder().setIndex(s).setMessage("no such block"));
      }
    }
    if (failure.getFailedSourcesCount() > 0) {
      return java.util.Optional.of(failure.build());
    }
    return request.getCheck()
        ? java.util.Optional.of(computed(request, sources))
        : write(executor, request, sources, writes);
  }

  private SimBlock read(SourceProto source) {
    ExtendedBlockProto wanted = source.getBlock();
    for (BlockLocationProto location : source.getLocationsList()) {
      SimServer server = servers.get(location.getServer().getDatanodeUuid());
      if (server != null && server.answers()) {
        SimBlock block = server.find(wanted.getBlockId());
        if (block != null
            && !block.corrupt()
            && block.generationStamp() == wanted.getGenerationStamp()
            && block.lengthBytes() == wanted.getNumBytes()) {
          return block;
        }
      }
    }
    return null;
  }

  /** Of a check: nothing is written. */
  private CombineResponseProto computed(CombineRequestProto request, List<SimBlock> sources) {
    CombineResponseProto.Builder response =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_OK);
    for (int t = 0; t < request.getTargetsCount(); t++) {
      SimBlock output = output(request, t, sources);
      response.addTargets(
          CombinedTargetProto.newBuilder()
              .setLengthBytes(output.lengthBytes())
              .setCrc32C(crc32c(output)));
    }
    return response.setBlocksRead(sources.size()).build();
  }

  /**
   * A checksum that adds up as that of bytes does: of bytes that are made up for each data block
   * and combined with the block's coefficients.
   */
  int crc32c(SimBlock block) {
    byte[] bytes = new byte[(int) block.lengthBytes()];
    block
        .content()
        .terms()
        .forEach(
            (id, coefficient) -> {
              long length = Math.min(dataLengths.getOrDefault(id, 8L), bytes.length);
              long noise = new java.util.SplittableRandom(id).nextLong() | 1;
              for (int i = 0; i < Math.min(8, length); i++) {
                int value = (int) (noise >>> (8 * i)) & 0xff;
                bytes[i] ^= (byte) Gf256.multiply(coefficient, value);
              }
            });
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  private java.util.Optional<CombineResponseProto> write(
      SimServer executor, CombineRequestProto request, List<SimBlock> sources, int writes) {
    CombineResponseProto.Builder response =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_OK);
    for (int t = 0; t < request.getTargetsCount(); t++) {
      if (t == writes) {
        executor.crash();
        return java.util.Optional.empty();
      }
      TargetProto target = request.getTargets(t);
      SimServer server = servers.get(target.getLocation().getServer().getDatanodeUuid());
      SimDisk disk =
          server == null || !server.answers()
              ? null
              : server.disk(target.getLocation().getStorageUuid());
      if (disk == null || disk.hasFailed()) {
        return java.util.Optional.of(targetFailed(t, "no such disk", false));
      }
      ExtendedBlockProto block = target.getBlock();
      if (disk.free() < block.getNumBytes() && !server.holds(block.getBlockId())) {
        tally.add("fault disk full in a combine");
        return java.util.Optional.of(targetFailed(t, "NO_SPACE: " + disk.uuid, true));
      }
      SimBlock output = output(request, t, sources);
      if (wrongOutputs > 0) {
        wrongOutputs--;
        output = wrong(output, sources);
      }
      if (!server.create(disk, output)) {
        return java.util.Optional.of(targetFailed(t, "the block is there already", false));
      }
      response.addTargets(
          CombinedTargetProto.newBuilder().setLengthBytes(output.lengthBytes()).setCrc32C(0));
    }
    return java.util.Optional.of(response.setBlocksRead(sources.size()).build());
  }

  private static CombineResponseProto targetFailed(int target, String why, boolean noSpace) {
    return CombineResponseProto.newBuilder()
        .setStatus(CombineStatusProto.COMBINE_TARGET_FAILED)
        .addFailedTargets(
            CombineFailureProto.newBuilder().setIndex(target).setMessage(why).setNoSpace(noSpace))
        .build();
  }

  private SimBlock output(CombineRequestProto request, int target, List<SimBlock> sources) {
    Content.Sum sum = new Content.Sum();
    if (bug == Bug.SWAPS_SOURCES && sources.size() > 1 && !request.getCheck()) {
      sources = new ArrayList<>(sources);
      java.util.Collections.swap(sources, 0, 1);
    }
    for (int s = 0; s < sources.size(); s++) {
      int coefficient = request.getCoefficients().byteAt(target * sources.size() + s) & 0xff;
      sum.add(coefficient, sources.get(s).content());
    }
    Content content = sum.content();
    ExtendedBlockProto block = request.getTargets(target).getBlock();
    if (isCut(content, block.getNumBytes())) {
      content = Content.garbage();
    }
    return new SimBlock(
        block.getBlockId(), block.getGenerationStamp(), block.getNumBytes(), content);
  }

  /** As if the coefficient of the first source were another one; its checksums are those of it. */
  private static SimBlock wrong(SimBlock output, List<SimBlock> sources) {
    Content content =
        new Content.Sum().add(1, output.content()).add(0x35, sources.get(0).content()).content();
    return new SimBlock(output.blockId(), output.generationStamp(), output.lengthBytes(), content);
  }

  /** Whether an output of this length would lack the end of a block that it covers. */
  private boolean isCut(Content content, long lengthBytes) {
    return content.terms().keySet().stream()
        .anyMatch(id -> dataLengths.getOrDefault(id, Long.MAX_VALUE) > lengthBytes);
  }

  /**
   * Runs a check of a claim on contents instead of checksums.
   *
   * @return whether it holds; empty if a block that it reads is not there
   */
  java.util.Optional<Boolean> holds(CheckProto check) {
    List<SimBlock> members = check.getMembersList().stream().map(this::read).toList();
    List<SimBlock> sources =
        check.getDecode().getCombine().getSourcesList().stream().map(this::read).toList();
    if (members.contains(null) || sources.contains(null)) {
      return java.util.Optional.empty();
    }
    if (!check.hasDecode()) {
      Content.Sum sum = new Content.Sum();
      members.forEach(member -> sum.add(1, member.content()));
      return java.util.Optional.of(sum.content().equals(Content.ZERO));
    }
    boolean holds = true;
    for (int t = 0; t < members.size(); t++) {
      Content decoded = output(check.getDecode().getCombine(), t, sources).content();
      holds &= decoded.equals(members.get(t).content());
    }
    return java.util.Optional.of(holds);
  }

  /** What a reader gets from a plan, or null if a source is not there. */
  Content decode(List<SourceProto> sources, byte[] coefficients) {
    Content.Sum sum = new Content.Sum();
    for (int s = 0; s < sources.size(); s++) {
      SimBlock block = read(sources.get(s));
      if (block == null) {
        return null;
      }
      sum.add(coefficients[s] & 0xff, block.content());
    }
    return sum.content();
  }
}
