package io.ebbfs.verify.simulator;

import io.ebbfs.coding.gf.Gf256;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.ReplicaVerifier;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CheckedSourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.OutputCheckProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/** All simulated chunk servers. They combine coefficients instead of bytes. */
final class SimCluster {
  private final Map<String, SimServer> servers = new TreeMap<>();
  // The lengths of all data blocks that were ever closed, by id.
  private final Map<Long, Long> dataLengths = new HashMap<>();

  private final SimReplicaMap replicas = new SimReplicaMap();
  private final SimNetwork network = new SimNetwork();
  private final SimWorld world;
  private final EventCounts events;
  private final PlantedBug bug;
  private long diskBytes;
  private SimServer.DeletionCheck deletions = (disk, block) -> {};
  private int made;
  // The number of next outputs that are computed wrong. The server does not notice.
  private int wrongOutputs;

  SimCluster(SimWorld world, EventCounts events, PlantedBug bug) {
    this.world = world;
    this.events = events;
    this.bug = bug;
    diskBytes = world.diskBytes();
    for (int s = 0; s < world.servers(); s++) {
      join();
    }
  }

  /** Makes all disks, present and future, large. */
  void grow() {
    diskBytes = SimWorld.ROOMY;
    servers.values().forEach(server -> server.resizeDisks(diskBytes));
  }

  /** The number of orders to delete replicas that servers have received so far. */
  long deletionOrders() {
    return servers.values().stream().mapToLong(SimServer::deletionOrders).sum();
  }

  /** Has each deletion checked that the namenode has ordered. */
  void onDeletion(SimServer.DeletionCheck check) {
    deletions = check;
  }

  SimNetwork network() {
    return network;
  }

  EventCounts events() {
    return events;
  }

  boolean isTight() {
    return diskBytes < SimWorld.ROOMY;
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
   * Runs a combine that computes right. An old combine may arrive late and write a lost block
   * again. No check follows it, so only the parity scrub would find a wrong block.
   */
  void withRightOutputs(Runnable combine) {
    int planted = wrongOutputs;
    wrongOutputs = 0;
    combine.run();
    wrongOutputs = planted;
  }

  SimReplicaMap replicas() {
    return replicas;
  }

  /** A new, empty server. */
  SimServer join() {
    SimServer server =
        new SimServer(
            made++,
            world.disksPerServer(),
            diskBytes,
            replicas,
            network,
            (disk, block) -> deletions.check(disk, block),
            bug);
    servers.put(server.uuid(), server);
    return server;
  }

  /** Removes a server and all its blocks for good. */
  void leave(SimServer server) {
    server.crash();
    server.disks().forEach(SimDisk::clear);
    servers.remove(server.uuid());
  }

  /** A block of a file has got its final length. */
  void noteLength(long blockId, long lengthBytes) {
    dataLengths.put(blockId, lengthBytes);
  }

  /** The places of a source whose server answers a raid-node and cannot read the block. */
  List<BlockLocationProto> badLocations(String reader, SourceProto source) {
    return source.getLocationsList().stream()
        .filter(
            location -> {
              SimServer server = servers.get(location.getServer().getDatanodeUuid());
              return server != null
                  && (server.answers() || server.deniesEverything())
                  && !network.isCut(reader, server.uuid())
                  && read(
                          reader,
                          source.toBuilder().clearLocations().addLocations(location).build())
                      == null;
            })
        .toList();
  }

  /** What a server says of its replica, which it reads; empty if it gives no answer. */
  Optional<BlockHealthProto> health(String asker, String serverUuid, ExtendedBlockProto wanted) {
    SimServer server = servers.get(serverUuid);
    if (network.isCut(asker, serverUuid)) {
      return Optional.empty();
    }
    if (server != null && server.deniesEverything()) {
      return Optional.of(BlockHealthProto.BLOCK_MISSING);
    }
    if (server == null || !server.answers()) {
      return Optional.empty();
    }
    SimBlock block = server.find(wanted.getBlockId());
    if (block == null || !block.is(wanted.getGenerationStamp(), wanted.getNumBytes())) {
      return Optional.of(BlockHealthProto.BLOCK_MISSING);
    }
    return Optional.of(
        block.corrupt() ? BlockHealthProto.BLOCK_CORRUPT : BlockHealthProto.BLOCK_OK);
  }

  /** A server syncs a block to its disk. */
  void sync(SimServer server, long blockId) {
    if (bug != PlantedBug.KEEPS_UNSYNCED) {
      server.sync(blockId);
    }
  }

  /** Reads a replica for the namenode, which has heard that it is bad. */
  ReplicaVerifier.Health verify(ClusterView.Server server, ExtendedBlock block) {
    events.add("client namenode has a suspect replica read");
    return health(
            SimNetwork.NAMENODE,
            server.uuid(),
            ExtendedBlockProto.newBuilder()
                .setPoolId(block.getBlockPoolId())
                .setBlockId(block.getBlockId())
                .setGenerationStamp(block.getGenerationStamp())
                .setNumBytes(block.getNumBytes())
                .build())
        .map(
            health ->
                switch (health) {
                  case BLOCK_OK -> ReplicaVerifier.Health.GOOD;
                  case BLOCK_CORRUPT -> ReplicaVerifier.Health.BAD;
                  case BLOCK_MISSING -> ReplicaVerifier.Health.MISSING;
                  default -> ReplicaVerifier.Health.UNKNOWN;
                })
        .orElse(ReplicaVerifier.Health.UNKNOWN);
  }

  // ---- combine ----------------------------------------------------------------------------------

  /**
   * Runs a combine on a server.
   *
   * @param raidNode who asks for the combine
   * @param writes the number of targets after which the executor dies; if there are fewer, it
   *     survives
   * @return empty if the executor died or is down: no answer comes
   */
  Optional<CombineResponseProto> combine(
      String raidNode, String executorUuid, CombineRequestProto request, int writes) {
    SimServer executor = servers.get(executorUuid);
    if (executor == null || !executor.answers() || network.isCut(raidNode, executorUuid)) {
      return Optional.empty();
    }
    List<SimBlock> sources = new ArrayList<>();
    CombineResponseProto.Builder failure =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_SOURCE_FAILED);
    for (int s = 0; s < request.getSourcesCount(); s++) {
      SimBlock block = read(executorUuid, request.getSources(s));
      sources.add(block);
      if (block == null) {
        failure.addFailedSources(
            CombineFailureProto.newBuilder().setIndex(s).setMessage("no such block"));
      }
    }
    if (failure.getFailedSourcesCount() > 0) {
      return Optional.of(failure.build());
    }
    return request.getCheck()
        ? Optional.of(computed(request, sources))
        : write(executor, request, sources, writes);
  }

  /** Reads a block for a process from the first server that it reaches and that has the block. */
  private SimBlock read(String reader, SourceProto source) {
    ExtendedBlockProto wanted = source.getBlock();
    for (BlockLocationProto location : source.getLocationsList()) {
      SimServer server = servers.get(location.getServer().getDatanodeUuid());
      if (server != null && server.answers() && !network.isCut(reader, server.uuid())) {
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

  /** Runs the combine of a check, which writes nothing. */
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
   * A checksum that adds up like that of real bytes. It is the CRC32C of bytes that are derived
   * from the ids of the data blocks and combined with the coefficients of the block.
   */
  int crc32c(SimBlock block) {
    byte[] bytes = new byte[(int) block.lengthBytes()];
    block
        .content()
        .terms()
        .forEach(
            (id, coefficient) -> {
              long length = Math.min(dataLengths.getOrDefault(id, 8L), bytes.length);
              long noise = new SplittableRandom(id).nextLong() | 1;
              for (int i = 0; i < Math.min(8, length); i++) {
                int value = (int) (noise >>> (8 * i)) & 0xff;
                bytes[i] ^= (byte) Gf256.multiply(coefficient, value);
              }
            });
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  private Optional<CombineResponseProto> write(
      SimServer executor, CombineRequestProto request, List<SimBlock> sources, int writes) {
    List<SimBlock> outputs = new ArrayList<>();
    for (int t = 0; t < request.getTargetsCount(); t++) {
      SimBlock output = output(request, t, sources);
      if (wrongOutputs > 0) {
        wrongOutputs--;
        output = wrong(output, sources);
      }
      outputs.add(output);
    }
    CombineResponseProto.Builder response =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_OK);
    if (request.hasOutputCheck()) {
      if (bug != PlantedBug.SWAPS_SOURCES && !holds(request.getOutputCheck(), sources, outputs)) {
        events.add("fault caught by a combine");
        return Optional.of(
            response
                .setStatus(CombineStatusProto.COMBINE_OUTPUTS_WRONG)
                .setMessage("wrong")
                .build());
      }
      sources.forEach(source -> response.addCheckedSources(checked(source)));
    }
    for (int t = 0; t < request.getTargetsCount(); t++) {
      if (t == writes) {
        executor.crash();
        return Optional.empty();
      }
      TargetProto target = request.getTargets(t);
      SimServer server = servers.get(target.getLocation().getServer().getDatanodeUuid());
      SimDisk disk =
          server == null || !server.answers() || network.isCut(executor.uuid(), server.uuid())
              ? null
              : server.disk(target.getLocation().getStorageUuid());
      if (disk == null || disk.hasFailed()) {
        return Optional.of(targetFailed(t, "no such disk", false));
      }
      ExtendedBlockProto block = target.getBlock();
      if (!server.transfers().makeRoomFor(block.getBlockId(), block.getGenerationStamp())) {
        return Optional.of(targetFailed(t, "the block is there already", false));
      }
      if (disk.free() < block.getNumBytes() && !server.holds(block.getBlockId())) {
        events.add("fault disk full in a combine");
        return Optional.of(targetFailed(t, "NO_SPACE: " + disk.uuid, true));
      }
      SimBlock output = outputs.get(t);
      if (!server.create(disk, output)) {
        return Optional.of(targetFailed(t, "the block is there already", false));
      }
      response.addTargets(
          CombinedTargetProto.newBuilder()
              .setLengthBytes(output.lengthBytes())
              .setCrc32C(crc32c(output)));
    }
    return Optional.of(response.setBlocksRead(sources.size()).build());
  }

  /** Whether the sources follow from the outputs, as a server checks before it writes. */
  private static boolean holds(
      OutputCheckProto check, List<SimBlock> sources, List<SimBlock> outputs) {
    List<SimBlock> columns = new ArrayList<>();
    check.getTargetsList().forEach(target -> columns.add(outputs.get(target)));
    columns.addAll(sources);
    boolean holds = true;
    for (int r = 0; r < check.getDecodedSourcesCount(); r++) {
      BlockContent.Sum sum = new BlockContent.Sum();
      for (int c = 0; c < columns.size(); c++) {
        int coefficient = check.getCoefficients().byteAt(r * columns.size() + c) & 0xff;
        sum.add(coefficient, columns.get(c).content());
      }
      holds &= sum.content().equals(sources.get(check.getDecodedSources(r)).content());
    }
    return holds;
  }

  private CheckedSourceProto checked(SimBlock source) {
    return CheckedSourceProto.newBuilder()
        .setLengthBytes(source.lengthBytes())
        .setCrc32C(crc32c(source))
        .build();
  }

  private static CombineResponseProto targetFailed(int target, String why, boolean noSpace) {
    return CombineResponseProto.newBuilder()
        .setStatus(CombineStatusProto.COMBINE_TARGET_FAILED)
        .addFailedTargets(
            CombineFailureProto.newBuilder().setIndex(target).setMessage(why).setNoSpace(noSpace))
        .build();
  }

  private SimBlock output(CombineRequestProto request, int target, List<SimBlock> sources) {
    BlockContent.Sum sum = new BlockContent.Sum();
    if (bug == PlantedBug.SWAPS_SOURCES && sources.size() > 1 && !request.getCheck()) {
      sources = new ArrayList<>(sources);
      Collections.swap(sources, 0, 1);
    }
    for (int s = 0; s < sources.size(); s++) {
      int coefficient = request.getCoefficients().byteAt(target * sources.size() + s) & 0xff;
      sum.add(coefficient, sources.get(s).content());
    }
    BlockContent content = sum.content();
    ExtendedBlockProto block = request.getTargets(target).getBlock();
    if (isCut(content, block.getNumBytes())) {
      content = BlockContent.garbage();
    }
    return new SimBlock(
        block.getBlockId(), block.getGenerationStamp(), block.getNumBytes(), content);
  }

  /** The output as if the first source had another coefficient. Its checksums fit. */
  private static SimBlock wrong(SimBlock output, List<SimBlock> sources) {
    BlockContent content =
        new BlockContent.Sum()
            .add(1, output.content())
            .add(0x35, sources.get(0).content())
            .content();
    return new SimBlock(output.blockId(), output.generationStamp(), output.lengthBytes(), content);
  }

  /** Whether an output of this length is shorter than a block that it covers. */
  private boolean isCut(BlockContent content, long lengthBytes) {
    return content.terms().keySet().stream()
        .anyMatch(id -> dataLengths.getOrDefault(id, Long.MAX_VALUE) > lengthBytes);
  }

  /**
   * Runs a check of a claim. It compares contents instead of checksums.
   *
   * @param results the answers of the steps of the claim
   * @return whether the check holds; empty if one of its blocks cannot be read
   */
  Optional<Boolean> holds(String raidNode, CheckProto check, List<CombineResponseProto> results) {
    List<SimBlock> members =
        check.getMembersList().stream().map(member -> read(raidNode, member)).toList();
    List<SimBlock> sources =
        check.getDecode().getCombine().getSourcesList().stream()
            .map(source -> read(check.getDecode().getExecutor().getDatanodeUuid(), source))
            .toList();
    if (members.contains(null) || sources.contains(null)) {
      return Optional.empty();
    }
    if (check.hasCombined()) {
      CombineResponseProto result = results.get(check.getCombined().getStep());
      List<Integer> inMemory = new ArrayList<>();
      check
          .getCombined()
          .getTargetsList()
          .forEach(t -> inMemory.add(result.getTargets(t).getCrc32C()));
      result.getCheckedSourcesList().forEach(source -> inMemory.add(source.getCrc32C()));
      return Optional.of(inMemory.equals(members.stream().map(this::crc32c).toList()));
    }
    if (!check.hasDecode()) {
      BlockContent.Sum sum = new BlockContent.Sum();
      members.forEach(member -> sum.add(1, member.content()));
      return Optional.of(sum.content().equals(BlockContent.ZERO));
    }
    boolean holds = true;
    for (int t = 0; t < members.size(); t++) {
      BlockContent decoded = output(check.getDecode().getCombine(), t, sources).content();
      holds &= decoded.equals(members.get(t).content());
    }
    return Optional.of(holds);
  }

  /** Decodes a block by a read plan; null if a source cannot be read. */
  BlockContent decode(List<SourceProto> sources, byte[] coefficients) {
    BlockContent.Sum sum = new BlockContent.Sum();
    for (int s = 0; s < sources.size(); s++) {
      SimBlock block = read("client", sources.get(s));
      if (block == null) {
        return null;
      }
      sum.add(coefficients[s] & 0xff, block.content());
    }
    return sum.content();
  }
}
