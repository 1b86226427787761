package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.coding.gf.Gf256;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ServerDrains;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CellsProto;
import io.ebbfs.protocol.proto.ChunkProtos.CheckedSourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.OutputCheckProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.words.CombineBytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.zip.CRC32C;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;

/**
 * Chunk servers in memory: disks with the bytes of small blocks, and the combine that the real ones
 * do, written as its definition.
 */
final class FakeCluster implements ClusterView, ServerDrains {
  long capacityBytes = 1L << 30;

  /** Disks that turn out to be full while a block is written, whatever they say of their space. */
  Predicate<String> fillsUp = disk -> false;

  /** Disks that say that they are full. */
  final Set<String> full = ConcurrentHashMap.newKeySet();

  /** The recent errors of disks that err. */
  final Map<String, Double> recentErrors = new ConcurrentHashMap<>();

  /** When a disk that is not in service was lost. */
  ToLongFunction<String> lostSince = disk -> 0;

  /** Servers that are to leave. */
  final Map<String, DrainState> drains = new ConcurrentHashMap<>();

  /** Servers that may be away. */
  final Set<String> hibernating = ConcurrentHashMap.newKeySet();

  private final Map<String, List<String>> disksOf = new TreeMap<>();
  private final Map<String, String> serverOf = new TreeMap<>();
  private final Map<String, Long> numberOf = new TreeMap<>();
  private final Map<String, Map<Long, byte[]>> content = new TreeMap<>();
  private final Set<String> dead = ConcurrentHashMap.newKeySet();
  private final Set<String> failedDisks = ConcurrentHashMap.newKeySet();
  private final Set<String> silent = ConcurrentHashMap.newKeySet();
  private boolean safeMode;
  CombineFault combineFault = (request, sources, coefficients) -> {};

  OutputFault outputFault = outputs -> {};
  OutputFault diskFault = outputs -> {};

  /** Chunk servers of an earlier version do not know the check of outputs. */
  boolean ignoresOutputChecks;

  /** Chunk servers of an earlier version do not know the cells of block groups. */
  boolean ignoresCells;

  /** Something that goes wrong in the memory of a server before it computes. */
  interface CombineFault {
    void apply(CombineRequestProto request, List<byte[]> sources, byte[] coefficients);
  }

  /**
   * Something that happens to computed outputs: before the server checks them, or on their way to
   * the disk.
   */
  interface OutputFault {
    void apply(List<byte[]> outputs);
  }

  FakeCluster(int servers, int disksPerServer) {
    for (int s = 0; s < servers; s++) {
      String server = "server-%02d".formatted(s);
      disksOf.put(server, new ArrayList<>());
      for (int d = 0; d < disksPerServer; d++) {
        String disk = "disk-%02d-%02d".formatted(s, d);
        disksOf.get(server).add(disk);
        serverOf.put(disk, server);
        numberOf.put(disk, (long) numberOf.size() + 1);
        content.put(disk, new ConcurrentSkipListMap<>());
      }
    }
  }

  @Override
  public boolean startDrain(String serverUuid) {
    return drains.putIfAbsent(serverUuid, DrainState.DRAINING) == null;
  }

  @Override
  public boolean endDrain(String serverUuid) {
    return drains.remove(serverUuid) != null;
  }

  @Override
  public Optional<String> whyNotEnded(String serverUuid) {
    return Optional.empty();
  }

  @Override
  public int enoughReplicas() {
    return 3;
  }

  @Override
  public long lostSinceMillis(String storageUuid) {
    return isLive(storageUuid) ? 0 : lostSince.applyAsLong(storageUuid);
  }

  // ---- faults ----------------------------------------------------------------------------------

  void kill(String server) {
    dead.add(server);
  }

  void revive(String server) {
    dead.remove(server);
  }

  /** Its heartbeats are overdue, though it does not count as dead yet. */
  void silence(String server) {
    silent.add(server);
  }

  /** Its heartbeats arrive again. */
  void speak(String server) {
    silent.remove(server);
  }

  void failDisk(String disk) {
    failedDisks.add(disk);
    content.get(disk).clear();
  }

  void setSafeMode(boolean on) {
    safeMode = on;
  }

  List<String> servers() {
    return List.copyOf(disksOf.keySet());
  }

  List<String> disks() {
    return List.copyOf(serverOf.keySet());
  }

  String serverOf(String disk) {
    return serverOf.get(disk);
  }

  Map<Long, byte[]> on(String disk) {
    return content.get(disk);
  }

  void put(String disk, long blockId, byte[] bytes) {
    content.get(disk).put(blockId, bytes);
  }

  /** The bytes, if the disk is in service and has them. */
  Optional<byte[]> read(String disk, long blockId) {
    return isLive(disk) ? Optional.ofNullable(content.get(disk).get(blockId)) : Optional.empty();
  }

  // ---- combine ---------------------------------------------------------------------------------

  CombineResponseProto combine(String executor, CombineRequestProto request) {
    CombineResponseProto.Builder response =
        CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_OK);
    if (dead.contains(executor)) {
      return response.setStatus(CombineStatusProto.COMBINE_BUSY).setMessage("dead").build();
    }
    List<byte[]> sources = new ArrayList<>();
    long longest = CombineBytes.longestTarget(request);
    long bytesRead = 0;
    for (int s = 0; s < request.getSourcesCount(); s++) {
      SourceProto source = request.getSources(s);
      bytesRead += CombineBytes.ofSource(source, longest);
      Optional<byte[]> bytes = read(source);
      if (bytes.isEmpty()) {
        return response
            .setStatus(CombineStatusProto.COMBINE_SOURCE_FAILED)
            .addFailedSources(CombineFailureProto.newBuilder().setIndex(s).setMessage("not there"))
            .build();
      }
      boolean byCells = source.hasCells() && !ignoresCells;
      sources.add(byCells ? spread(bytes.get(), source.getCells(), (int) longest) : bytes.get());
    }
    byte[] coefficients = request.getCoefficients().toByteArray();
    if (!request.getCheck()) {
      combineFault.apply(request, sources, coefficients);
    }
    List<byte[]> outputs = new ArrayList<>();
    for (int t = 0; t < request.getTargetsCount(); t++) {
      byte[] row = Arrays.copyOfRange(coefficients, t * sources.size(), (t + 1) * sources.size());
      outputs.add(combine(sources, row, (int) request.getTargets(t).getBlock().getNumBytes()));
    }
    if (!request.getCheck()) {
      outputFault.apply(outputs);
    }
    outputs.forEach(
        out ->
            response.addTargets(
                CombinedTargetProto.newBuilder()
                    .setLengthBytes(out.length)
                    .setCrc32C(crc32c(out))));
    if (request.hasOutputCheck() && !ignoresOutputChecks) {
      Optional<String> wrong = wrongOutputs(request.getOutputCheck(), sources, outputs);
      if (wrong.isPresent()) {
        return CombineResponseProto.newBuilder()
            .setStatus(CombineStatusProto.COMBINE_OUTPUTS_WRONG)
            .setMessage(wrong.get())
            .build();
      }
      sources.forEach(
          source ->
              response.addCheckedSources(
                  CheckedSourceProto.newBuilder()
                      .setLengthBytes(source.length)
                      .setCrc32C(crc32c(source))));
    }
    if (!request.getCheck()) {
      diskFault.apply(outputs);
    }
    for (int t = 0; t < request.getTargetsCount(); t++) {
      TargetProto target = request.getTargets(t);
      String disk = target.getLocation().getStorageUuid();
      if (!request.getCheck() && !isLive(disk)) {
        return response.clearTargets().setStatus(CombineStatusProto.COMBINE_TARGET_FAILED).build();
      }
      if (!request.getCheck() && fillsUp.test(disk)) {
        return response
            .clearTargets()
            .setStatus(CombineStatusProto.COMBINE_TARGET_FAILED)
            .addFailedTargets(
                CombineFailureProto.newBuilder()
                    .setIndex(t)
                    .setMessage("NO_SPACE: " + disk)
                    .setNoSpace(true))
            .build();
      }
      byte[] out = outputs.get(t);
      if (!request.getCheck()) {
        content.get(disk).put(target.getBlock().getBlockId(), out);
        response.setBytesWrittenRemote(response.getBytesWrittenRemote() + out.length);
      }
    }
    return response.setBlocksRead(sources.size()).setBytesReadRemote(bytesRead).build();
  }

  /** A data block of a block group as it is in a part of the data, written as its definition. */
  static byte[] spread(byte[] block, CellsProto cells, int length) {
    byte[] out = new byte[length];
    for (int i = 0; i < length; i++) {
      long at = cells.getStartBytes() + i;
      long cell = at / cells.getCellBytes();
      long inBlock = cell / cells.getUnits() * cells.getCellBytes() + at % cells.getCellBytes();
      if (cell % cells.getUnits() == cells.getUnit() && inBlock < block.length) {
        out[i] = block[(int) inBlock];
      }
    }
    return out;
  }

  /** The check of outputs, written as its definition. */
  private static Optional<String> wrongOutputs(
      OutputCheckProto check, List<byte[]> sources, List<byte[]> outputs) {
    List<byte[]> columns = new ArrayList<>();
    check.getTargetsList().forEach(target -> columns.add(outputs.get(target)));
    columns.addAll(sources);
    int length = columns.stream().mapToInt(c -> c.length).max().orElseThrow();
    for (int r = 0; r < check.getDecodedSourcesCount(); r++) {
      byte[] row =
          check
              .getCoefficients()
              .substring(r * columns.size(), (r + 1) * columns.size())
              .toByteArray();
      byte[] read = sources.get(check.getDecodedSources(r));
      if (!Arrays.equals(combine(columns, row, length), Arrays.copyOf(read, length))) {
        return Optional.of("a block decoded back from the outputs differs");
      }
    }
    return Optional.empty();
  }

  static int crc32c(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /** What a server finds out about its replicas. */
  VerifyResponseProto verify(String server, VerifyRequestProto request) throws IOException {
    if (dead.contains(server)) {
      throw new IOException(server + " is dead");
    }
    VerifyResponseProto.Builder response = VerifyResponseProto.newBuilder();
    for (ExtendedBlockProto block : request.getBlocksList()) {
      Optional<byte[]> bytes =
          disksOf.get(server).stream()
              .map(disk -> read(disk, block.getBlockId()))
              .flatMap(Optional::stream)
              .filter(b -> b.length == block.getNumBytes())
              .findFirst();
      response.addBlocks(
          bytes.isEmpty()
              ? VerifiedBlockProto.newBuilder().setHealth(BlockHealthProto.BLOCK_MISSING)
              : VerifiedBlockProto.newBuilder()
                  .setHealth(BlockHealthProto.BLOCK_OK)
                  .setSynced(request.getSync())
                  .setLengthBytes(bytes.get().length)
                  .setCrc32C(crc32c(bytes.get()))
                  .addAllCellCrc32C(cellSums(bytes.get(), request.getCellBytes())));
    }
    return response.build();
  }

  private List<Integer> cellSums(byte[] bytes, int cellBytes) {
    List<Integer> sums = new ArrayList<>();
    for (int at = 0; cellBytes > 0 && !ignoresCells && at < bytes.length; at += cellBytes) {
      sums.add(crc32c(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + cellBytes))));
    }
    return sums;
  }

  /** Whether a check holds of the bytes themselves; true if they cannot be read now. */
  boolean holds(CheckProto check) {
    List<byte[]> members = new ArrayList<>();
    for (SourceProto member : check.getMembersList()) {
      read(member).ifPresent(members::add);
    }
    if (members.size() < check.getMembersCount()) {
      return true;
    }
    if (check.hasCombined()) {
      return true; // the servers have checked the bytes before they wrote them
    }
    if (check.hasGathered()) {
      byte[] written = members.get(0);
      byte[] expected = new byte[written.length];
      for (int m = 1; m < members.size(); m++) {
        CellsProto cells =
            check.getMembers(m).getCells().toBuilder()
                .setStartBytes(check.getGathered().getStartBytes())
                .build();
        byte[] part = spread(members.get(m), cells, written.length);
        for (int i = 0; i < part.length; i++) {
          expected[i] ^= part[i];
        }
      }
      return Arrays.equals(written, expected);
    }
    if (!check.hasDecode()) {
      byte[] ones = new byte[members.size()];
      Arrays.fill(ones, (byte) 1);
      int length = (int) check.getLengthBytes();
      return Arrays.equals(combine(members, ones, length), new byte[length]);
    }
    CombineRequestProto combine = check.getDecode().getCombine();
    for (int t = 0; t < combine.getTargetsCount(); t++) {
      int sources = combine.getSourcesCount();
      int length = (int) combine.getTargets(t).getBlock().getNumBytes();
      Optional<byte[]> decoded =
          decode(
              combine.getSourcesList(),
              combine.getCoefficients().substring(t * sources, (t + 1) * sources).toByteArray(),
              length);
      if (decoded.isPresent()
          && !Arrays.equals(decoded.get(), Arrays.copyOf(members.get(t), length))) {
        return false;
      }
    }
    return true;
  }

  private Optional<byte[]> read(SourceProto source) {
    for (BlockLocationProto location : source.getLocationsList()) {
      Optional<byte[]> bytes =
          read(location.getStorageUuid(), source.getBlock().getBlockId())
              .filter(b -> b.length == source.getBlock().getNumBytes());
      if (bytes.isPresent()) {
        return bytes;
      }
    }
    return Optional.empty();
  }

  static byte[] combine(List<byte[]> sources, byte[] row, int length) {
    byte[] out = new byte[length];
    for (int s = 0; s < sources.size(); s++) {
      byte[] source = sources.get(s);
      int end = Math.min(length, source.length);
      for (int i = 0; i < end; i++) {
        out[i] ^= row[s] == 1 ? source[i] : (byte) Gf256.multiply(row[s] & 0xff, source[i] & 0xff);
      }
    }
    return out;
  }

  /** What a reader gets from a plan; empty if a source is not where the plan says. */
  Optional<byte[]> decode(List<SourceProto> plan, byte[] coefficients, int length) {
    List<byte[]> sources = new ArrayList<>();
    for (SourceProto source : plan) {
      Optional<byte[]> bytes = read(source);
      if (bytes.isEmpty()) {
        return Optional.empty();
      }
      sources.add(bytes.get());
    }
    return Optional.of(combine(sources, coefficients, length));
  }

  // ---- ClusterView -----------------------------------------------------------------------------

  @Override
  public List<Server> liveServers() {
    return servers().stream().filter(s -> !dead.contains(s)).map(this::describe).toList();
  }

  @Override
  public List<Server> allServers() {
    return servers().stream().map(this::describe).toList();
  }

  @Override
  public Optional<Server> server(String serverUuid) {
    return disksOf.containsKey(serverUuid) ? Optional.of(describe(serverUuid)) : Optional.empty();
  }

  private Server describe(String uuid) {
    return new Server(
        uuid,
        uuid,
        "127.0.0.1",
        1,
        2,
        3,
        "/rack",
        !dead.contains(uuid),
        silent.contains(uuid) ? 0 : 60_000,
        0,
        disksOf.get(uuid).stream().map(disk -> disk(disk).orElseThrow()).toList(),
        drains.getOrDefault(uuid, DrainState.NONE),
        hibernating.contains(uuid)
            ? Optional.of(new Hibernation(0, Long.MAX_VALUE, false, true))
            : Optional.empty());
  }

  @Override
  public Optional<Disk> disk(String storageUuid) {
    if (!serverOf.containsKey(storageUuid)) {
      return Optional.empty();
    }
    long used = content.get(storageUuid).values().stream().mapToLong(b -> b.length).sum();
    return Optional.of(
        new Disk(
                storageUuid,
                numberOf.get(storageUuid),
                serverOf.get(storageUuid),
                failedDisks.contains(storageUuid),
                capacityBytes,
                used,
                full.contains(storageUuid) ? 0 : capacityBytes - used)
            .withRecentErrors(recentErrors.getOrDefault(storageUuid, 0.0)));
  }

  @Override
  public boolean inSafeMode() {
    return safeMode;
  }
}
