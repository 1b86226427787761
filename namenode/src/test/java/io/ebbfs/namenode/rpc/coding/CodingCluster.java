package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.namenode.audit.MetadataChecker.Severity;
import io.ebbfs.namenode.audit.SpaceAccount;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.xattrs.ReportedHeat;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.StripeService.Member;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.FailRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.executor.CombineLimiter;
import io.ebbfs.raid.executor.ParallelCalls;
import io.ebbfs.raid.executor.Throttle;
import io.ebbfs.raid.executor.TransitionExecutor;
import io.ebbfs.raid.executor.TransitionOutcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Everything about stripes in one JVM: real metadata and decisions, servers in memory. */
final class CodingCluster {
  static final String WORKER = "worker";
  static final long LEASE_MILLIS = 10_000;

  /** One tick looks at all stripes: the fake block service gives no hints. */
  static final TransitionSettings SETTINGS =
      new TransitionSettings(
          6,
          1_000,
          60_000,
          600_000,
          256,
          100_000,
          10_000,
          10_000,
          1_000,
          500,
          0.5,
          Verification.ON,
          false);

  final CodeRegistry codes;
  final InMemoryStore store = new InMemoryStore();
  final FakeCluster servers;
  final FakeBlocks blocks;
  final StripeManager stripes;
  final IdGenerators ids;
  final Random random;
  final TransitionSettings settings;
  CodingService coding;
  private final ManualClock clock = new ManualClock(1_000_000);
  private final Map<Long, List<byte[]>> files = new ConcurrentSkipListMap<>();

  CodingCluster(int serverCount, int disksPerServer, long seed, TransitionSettings settings)
      throws IOException {
    this(CodeRegistry.builtIn(), serverCount, disksPerServer, seed, settings);
  }

  /** Whose user defined codes. */
  CodingCluster(CodeRegistry codes, int serverCount, int disksPerServer, long seed)
      throws IOException {
    this(codes, serverCount, disksPerServer, seed, SETTINGS);
  }

  private CodingCluster(
      CodeRegistry codes,
      int serverCount,
      int disksPerServer,
      long seed,
      TransitionSettings settings)
      throws IOException {
    this.codes = codes;
    this.servers = new FakeCluster(serverCount, disksPerServer);
    this.blocks = new FakeBlocks(store, servers);
    this.stripes = new StripeManager(codes, blocks, servers);
    this.ids = IdGenerators.of(store);
    this.random = new Random(seed);
    this.settings = settings;
    restart();
  }

  CodingCluster(int serverCount, int disksPerServer, long seed) throws IOException {
    this(serverCount, disksPerServer, seed, SETTINGS);
  }

  /** What was reported to the process. */
  ReportedHeat heat;

  /** A new process on the same store. */
  void restart() throws IOException {
    restart(store);
  }

  /** A new process that sees the store through another one. */
  void restart(MetadataStore seen) throws IOException {
    heat = new ReportedHeat(clock);
    coding =
        new CodingService(
            "BP-1",
            codes,
            seen,
            ids,
            blocks,
            new BlockCounts(() -> 0, () -> 0, storage -> 0),
            servers,
            servers,
            stripes,
            heat,
            clock,
            random,
            settings);
  }

  long now() {
    return clock.millis();
  }

  synchronized void advance(long millis) {
    clock.advance(millis);
  }

  // ---- files -----------------------------------------------------------------------------------

  /** A closed file with three replicas of each block. */
  long createFile(int... lengths) throws IOException {
    long id = ids.inodes().next();
    List<byte[]> contents = new ArrayList<>();
    List<Long> blockIds = new ArrayList<>();
    for (int length : lengths) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      contents.add(bytes);
      blockIds.add(ids.blocks().next());
    }
    byte[] name = ("file-" + id).getBytes(StandardCharsets.UTF_8);
    store.transact(
        id,
        transaction -> {
          long total = 0;
          for (int i = 0; i < lengths.length; i++) {
            total += lengths[i];
            BlockRow block =
                BlockRow.newBuilder()
                    .setBlockId(blockIds.get(i))
                    .setGenerationStamp(1001)
                    .setLengthBytes(lengths[i])
                    .setState(BlockStateProto.COMPLETE)
                    .setReplication(3)
                    .build();
            BlockRows.putBlock(transaction, id, i, block);
            List<String> on =
                new ArrayList<>(servers.liveServers().stream().map(s -> s.uuid()).toList());
            Collections.shuffle(on, random);
            for (String server : on.subList(0, 3)) {
              List<String> disks =
                  servers.disks().stream()
                      .filter(d -> servers.serverOf(d).equals(server) && servers.isLive(d))
                      .toList();
              String disk = disks.get(random.nextInt(disks.size()));
              servers.put(disk, blockIds.get(i), contents.get(i));
              BlockRows.addReplica(
                  transaction, servers, id, blockIds.get(i), 1001, lengths[i], disk);
            }
          }
          transaction.put(
              Tables.INODE_NAME,
              Tables.inodeName(id),
              InodeNameRow.newBuilder()
                  .setParentId(Inode.ROOT_ID)
                  .setName(ByteString.copyFrom(name))
                  .build());
          transaction.put(
              Tables.INODE,
              Tables.inode(Inode.ROOT_ID, name),
              InodeRow.newBuilder()
                  .setId(id)
                  .setKind(InodeKindProto.FILE)
                  .setOwner("o")
                  .setGroup("g")
                  .setPermission(0644)
                  .setModifiedMillis(1)
                  .setLengthBytes(total)
                  .setReplication(3)
                  .build());
          return null;
        });
    files.put(id, contents);
    return id;
  }

  long createFile(int blockCount, int maxLength, boolean equal) throws IOException {
    int[] lengths = new int[blockCount];
    for (int i = 0; i < blockCount; i++) {
      lengths[i] = equal ? maxLength : 8 + random.nextInt(maxLength - 7);
    }
    return createFile(lengths);
  }

  void deleteFile(long id) throws IOException {
    byte[] name = ("file-" + id).getBytes(StandardCharsets.UTF_8);
    Key key = Tables.inode(Inode.ROOT_ID, name);
    List<Invalidation> gone =
        store.transact(
            id,
            transaction -> {
              transaction.lock(List.of(RowLock.exclusive(Tables.INODE, key)));
              List<Row<BlockRow>> rows = transaction.scan(Tables.BLOCK, id);
              transaction.lock(stripes.locksToRemove(members(rows, id)));
              List<Invalidation> result =
                  new ArrayList<>(stripes.removeMembers(transaction, members(rows, id)));
              List<Long> plain =
                  rows.stream()
                      .filter(row -> !row.value().hasStripeId())
                      .map(row -> row.key().firstLong())
                      .toList();
              result.addAll(blocks.release(transaction, id, plain));
              transaction.delete(Tables.INODE, key);
              transaction.delete(Tables.INODE_NAME, Tables.inodeName(id));
              return result;
            });
    blocks.invalidate(gone);
    files.remove(id);
  }

  private static List<Member> members(List<Row<BlockRow>> rows, long id) {
    return rows.stream().filter(row -> row.value().hasStripeId()).map(Member::of).toList();
  }

  List<Long> fileIds() {
    return List.copyOf(files.keySet());
  }

  /** The row of a block of a file. */
  BlockRow block(long fileId, int index) throws IOException {
    return store
        .transact(fileId, transaction -> transaction.get(Tables.BLOCK, Tables.block(fileId, index)))
        .orElseThrow();
  }

  /** The disks in service with a block of a file. */
  List<String> live(long fileId, int index) throws IOException {
    BlockRow block = block(fileId, index);
    return store.transact(
        fileId, transaction -> BlockRows.liveStorages(transaction, servers, fileId, block));
  }

  // ---- reading ---------------------------------------------------------------------------------

  GetReadPlanResponseProto readPlan(long blockId, List<String> excludedServers)
      throws ServiceException {
    return coding.getReadPlan(
        null,
        GetReadPlanRequestProto.newBuilder()
            .setBlock(
                ExtendedBlockProto.newBuilder()
                    .setPoolId("BP-1")
                    .setBlockId(blockId)
                    .setGenerationStamp(1))
            .addAllExcludedServerUuids(excludedServers)
            .build());
  }

  /** Every file reads as it was written, through whatever plan. */
  void assertAllReadable() throws Exception {
    for (Map.Entry<Long, List<byte[]>> file : files.entrySet()) {
      for (int i = 0; i < file.getValue().size(); i++) {
        byte[] written = file.getValue().get(i);
        if (written.length > 0) {
          GetReadPlanResponseProto plan = readPlan(block(file.getKey(), i).getBlockId(), List.of());
          assertThat(
                  servers.decode(
                      plan.getSourcesList(),
                      plan.getCoefficients().toByteArray(),
                      (int) plan.getLengthBytes()))
              .as("block %d of file %d by %s", i, file.getKey(), plan)
              .hasValueSatisfying(bytes -> assertThat(bytes).isEqualTo(written));
        }
      }
    }
  }

  // ---- transitions -----------------------------------------------------------------------------

  ProposedProto propose(
      TransitionKindProto kind, String toCode, List<Long> fileIds, List<Long> stripeIds)
      throws ServiceException {
    return propose(decision(kind, toCode, fileIds).addAllStripeIds(stripeIds));
  }

  /** Encodes into a code that is kept. */
  ProposedProto proposeSingle(String code, List<Long> fileIds) throws ServiceException {
    return propose(decision(TransitionKindProto.ENCODE, code, fileIds).setSingle(true));
  }

  /** Encodes the longest blocks of files. */
  ProposedProto proposeLongest(String code, List<Long> fileIds, int blocks)
      throws ServiceException {
    return propose(decision(TransitionKindProto.ENCODE, code, fileIds).setLongestBlocks(blocks));
  }

  private static DecisionProto.Builder decision(
      TransitionKindProto kind, String toCode, List<Long> fileIds) {
    return DecisionProto.newBuilder()
        .setKind(kind)
        .setToCode(toCode)
        .addAllFileIds(fileIds)
        .setPolicy("test")
        .setReason("because");
  }

  private ProposedProto propose(DecisionProto.Builder decision) throws ServiceException {
    return coding
        .propose(null, ProposeRequestProto.newBuilder().addDecisions(decision).build())
        .getResults(0);
  }

  List<ClaimedTransitionProto> claim(int limit) throws ServiceException {
    return claim(WORKER, limit);
  }

  List<ClaimedTransitionProto> claim(String worker, int limit) throws ServiceException {
    return coding
        .claim(
            null,
            ClaimRequestProto.newBuilder()
                .setWorker(worker)
                .setLimit(limit)
                .setLeaseMillis(LEASE_MILLIS)
                .build())
        .getClaimedList();
  }

  List<CombineResponseProto> run(ClaimedTransitionProto claimed) {
    List<CombineResponseProto> results = new ArrayList<>();
    for (StepProto step : claimed.getStepsList()) {
      results.add(servers.combine(step.getExecutor().getDatanodeUuid(), step.getCombine()));
    }
    return results;
  }

  /** Commits; what the checks say of the bytes written must hold. */
  CommitResponseProto commit(ClaimedTransitionProto claimed, List<CombineResponseProto> results)
      throws ServiceException {
    assertThat(claimed.getChecksList()).allMatch(servers::holds);
    return coding.commit(
        null,
        CommitRequestProto.newBuilder()
            .setWorker(WORKER)
            .setTransitionId(claimed.getTransition().getId())
            .setAttempt(claimed.getTransition().getAttempt())
            .addAllResults(results)
            .setChecksPassed(claimed.getChecksCount())
            .setGatheredChecksPassed(
                (int) claimed.getChecksList().stream().filter(CheckProto::hasGathered).count())
            .build());
  }

  TransitionStateProto fail(ClaimedTransitionProto claimed, String reason) throws ServiceException {
    return coding
        .fail(
            null,
            FailRequestProto.newBuilder()
                .setWorker(WORKER)
                .setTransitionId(claimed.getTransition().getId())
                .setAttempt(claimed.getTransition().getAttempt())
                .setReason(reason)
                .build())
        .getState();
  }

  /** Runs a claimed transition to its end with the raid-node's own executor. */
  TransitionOutcome execute(ClaimedTransitionProto claimed) throws InterruptedException {
    return execute(WORKER, claimed);
  }

  TransitionOutcome execute(String worker, ClaimedTransitionProto claimed)
      throws InterruptedException {
    ChunkChannel channel =
        new ChunkChannel() {
          @Override
          public CombineResponseProto combine(DatanodeIDProto executor, CombineRequestProto r) {
            return servers.combine(executor.getDatanodeUuid(), r);
          }

          @Override
          public VerifyResponseProto verify(DatanodeIDProto server, VerifyRequestProto r)
              throws IOException {
            return servers.verify(server.getDatanodeUuid(), r);
          }
        };
    Throttle unlimited = new Throttle(0, () -> 0, millis -> {});
    return new TransitionExecutor(
            worker,
            coding,
            channel,
            unlimited,
            new CombineLimiter(1, 1),
            ParallelCalls.inTurn(),
            millis -> {})
        .run(claimed, id -> false);
  }

  /** Runs what is planned until nothing is left that can run; returns how many were committed. */
  int runAll() throws Exception {
    int committed = 0;
    for (int round = 0; round < 40; round++) {
      coding.tick();
      List<ClaimedTransitionProto> claimed = claim(16);
      for (ClaimedTransitionProto one : claimed) {
        List<CombineResponseProto> results = run(one);
        if (results.stream().allMatch(r -> r.getStatus() == CombineStatusProto.COMBINE_OK)) {
          committed += commit(one, results).getCommitted() ? 1 : 0;
        } else {
          fail(one, "combine failed");
        }
      }
      if (claimed.isEmpty() && active().isEmpty()) {
        return committed;
      }
      advance(claimed.isEmpty() ? 120_000 : 10);
    }
    return committed;
  }

  List<TransitionRow> transitions() throws ServiceException {
    return coding
        .listTransitions(null, ListTransitionsRequestProto.getDefaultInstance())
        .getTransitionsList();
  }

  List<TransitionRow> active() throws ServiceException {
    return transitions().stream()
        .filter(
            t ->
                t.getState() == TransitionStateProto.PLANNED
                    || t.getState() == TransitionStateProto.RUNNING)
        .toList();
  }

  TransitionRow transition(long id) throws ServiceException {
    return coding
        .listTransitions(
            null, ListTransitionsRequestProto.newBuilder().addTransitionIds(id).build())
        .getTransitions(0);
  }

  List<StripeStatusProto> stripeList() throws ServiceException {
    return coding.listStripes(null, ListStripesRequestProto.getDefaultInstance()).getStripesList();
  }

  List<Long> stripeIds() throws ServiceException {
    return stripeList().stream().map(s -> s.getStripe().getId()).toList();
  }

  GetClusterResponseProto cluster() throws ServiceException {
    return coding.getCluster(null, GetClusterRequestProto.getDefaultInstance());
  }

  long counter(String name) throws ServiceException {
    return cluster().getCountersList().stream()
        .filter(count -> count.getName().equals(name))
        .mapToLong(count -> count.getValue())
        .findFirst()
        .orElse(0);
  }

  // ---- invariants ------------------------------------------------------------------------------

  void assertConsistent() throws IOException {
    assertThat(findings(Severity.WRONG)).isEmpty();
  }

  List<Finding> findings(Severity severity) throws IOException {
    return MetadataChecker.run(codes, store, servers, 100).stream()
        .filter(finding -> finding.severity() == severity)
        .toList();
  }

  /**
   * Every byte on the disks in service is accounted for: by a row, as the output of a running
   * transition, or as something that the next report has deleted.
   */
  void assertSpaceAccounted() throws Exception {
    SpaceAccount account = SpaceAccount.of(codes, store, servers::isLive);
    long onDisks = 0;
    long written = 0;
    long pending = 0;
    Set<String> reserved = new HashSet<>();
    for (TransitionRow row : active()) {
      row.getOutputsList().forEach(o -> reserved.add(o.getBlockId() + "@" + o.getStorageUuid()));
    }
    Set<String> known = new HashSet<>();
    for (Row<ReplicaRow> row : store.scanAll(Tables.REPLICA, null, Integer.MAX_VALUE)) {
      known.add(row.key().firstLong() + "@" + Tables.replicaStorage(row.key()));
    }
    for (String disk : servers.disks()) {
      if (servers.isLive(disk)) {
        for (Map.Entry<Long, byte[]> block : servers.on(disk).entrySet()) {
          String replica = block.getKey() + "@" + disk;
          onDisks += block.getValue().length;
          if (!known.contains(replica)) {
            written += reserved.contains(replica) ? block.getValue().length : 0;
            pending += reserved.contains(replica) ? 0 : block.getValue().length;
          }
        }
      }
    }
    assertThat(onDisks).isEqualTo(account.rows() + written + pending);
    assertThat(written).isLessThanOrEqualTo(account.reserved());
  }

  /** At rest nothing is on the disks but what rows account for, each part as the listings say. */
  void assertSpaceExact() throws Exception {
    blocks.reportAll();
    assertSpaceAccounted();
    SpaceAccount account = SpaceAccount.of(codes, store, servers::isLive);
    long onDisks = 0;
    for (String disk : servers.disks()) {
      if (servers.isLive(disk)) {
        onDisks += servers.on(disk).values().stream().mapToLong(b -> b.length).sum();
      }
    }
    assertThat(account.rows()).isEqualTo(onDisks);
    assertThat(account.reserved()).isZero();
    assertThat(account.leaving()).isZero();
    // The sums count replicas on a failed disk until its walk ends, and nothing walks here.
    long onFailed = SpaceAccount.of(codes, store, disk -> true).rows() - account.rows();
    coding.tick();
    Map<String, Long> space = new TreeMap<>();
    cluster().getSpaceBytesList().forEach(count -> space.put(count.getName(), count.getValue()));
    assertThat(space)
        .containsEntry("live", account.live())
        .containsEntry("dead", account.dead())
        .containsEntry("parity", account.parity())
        .containsEntry("replicated", account.replicated() + onFailed)
        .containsEntry("reserved", 0L);
    assertThat(cluster().getStoredBytes()).isEqualTo(onDisks + onFailed);
    assertThat(stripeList().stream().mapToLong(s -> s.getDeadBytes()).sum())
        .isEqualTo(account.dead());
    assertThat(stripeList().stream().mapToLong(s -> s.getParityBytes()).sum())
        .isEqualTo(account.parity());
  }

  /** Nothing on live disks that no row knows, once every server has reported. */
  void assertNoOrphans() throws IOException {
    blocks.reportAll();
    for (String disk : servers.disks()) {
      if (servers.isLive(disk)) {
        for (long blockId : servers.on(disk).keySet()) {
          Optional<?> owner =
              store.transact(
                  blockId,
                  transaction -> transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId)));
          assertThat(owner).as("owner of block %d on %s", blockId, disk).isPresent();
        }
      }
    }
  }
}
