package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.FileRows;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import io.ebbfs.raid.executor.TransitionOutcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** Files that their clients have encoded become replicated files, on real bytes. */
class GroupReleaseTest {
  private static final int CELL = 1 << 20;
  private static final int BLOCK = 2 * CELL;
  private static final int POLICY = SystemErasureCodingPolicies.XOR_2_1_POLICY_ID;
  private static final BlockGroupLayout LAYOUT = BlockGroupLayout.of(POLICY);
  private static final int GROUP = 2 * BLOCK;
  private static final int SHORT_GROUP = CELL + CELL / 2 + 77;
  private static final long COUNTED_DIRECTORY = 77;

  private CodingCluster cluster;
  private byte[] data = new byte[0];

  GroupReleaseTest() throws Exception {
    cluster = new CodingCluster(6, 2, 9);
  }

  // ---- files of block groups --------------------------------------------------------------------

  /** A full group and a short one. */
  private long createFile() throws IOException {
    return createFile(GROUP, SHORT_GROUP);
  }

  private long createFile(int... groups) throws IOException {
    long id = cluster.ids.inodes().next();
    data = new byte[Arrays.stream(groups).sum()];
    cluster.random.nextBytes(data);
    byte[] name = ("striped-" + id).getBytes(StandardCharsets.UTF_8);
    List<List<byte[]>> contents = new ArrayList<>();
    int from = 0;
    for (int length : groups) {
      contents.add(blocks(Arrays.copyOfRange(data, from, from + length)));
      from += length;
    }
    boolean counted =
        cluster.store.transact(
            COUNTED_DIRECTORY,
            t -> t.get(Tables.QUOTA, Tables.quota(COUNTED_DIRECTORY, 0)).isPresent());
    List<Long> groupIds = new ArrayList<>();
    List<Long> stripeIds = new ArrayList<>();
    for (int g = 0; g < groups.length; g++) {
      groupIds.add((1_000_000 + cluster.ids.blocks().next()) * BlockGroupLayout.IDS_OF_GROUP);
      stripeIds.add(cluster.ids.inodes().next());
    }
    cluster.store.transact(
        id,
        transaction -> {
          long stored = 0;
          for (int g = 0; g < groups.length; g++) {
            stored += LAYOUT.consumedBytes(groups[g]);
            putGroup(transaction, id, g, groupIds.get(g), stripeIds.get(g), groups[g]);
            putBlocks(transaction, id, g, groupIds.get(g), stripeIds.get(g), contents.get(g));
          }
          transaction.put(
              Tables.INODE_NAME,
              Tables.inodeName(id),
              InodeNameRow.newBuilder()
                  .setParentId(Inode.ROOT_ID)
                  .setName(ByteString.copyFrom(name))
                  .build());
          InodeRow.Builder inode =
              InodeRow.newBuilder()
                  .setId(id)
                  .setKind(InodeKindProto.FILE)
                  .setOwner("ann")
                  .setGroup("staff")
                  .setPermission(0640)
                  .setModifiedMillis(123)
                  .setAccessedMillis(124)
                  .setBlockSizeBytes(BLOCK)
                  .setReplication(1)
                  .setBlocks(groups.length)
                  .setLengthBytes(data.length)
                  .setEcPolicyId(POLICY);
          if (counted) {
            inode.setCountedIn(COUNTED_DIRECTORY).setCountedBytes(stored);
          }
          transaction.put(Tables.INODE, Tables.inode(Inode.ROOT_ID, name), inode.build());
          return null;
        });
    return id;
  }

  /** What a client makes of the data of a group: the cells go round, the parity is the sum. */
  private static List<byte[]> blocks(byte[] group) {
    List<ByteArrayOutputStream> units =
        List.of(new ByteArrayOutputStream(), new ByteArrayOutputStream());
    for (int at = 0; at < group.length; at += CELL) {
      units.get(at / CELL % 2).write(group, at, Math.min(CELL, group.length - at));
    }
    byte[] first = units.get(0).toByteArray();
    byte[] second = units.get(1).toByteArray();
    byte[] parity = first.clone();
    for (int i = 0; i < second.length; i++) {
      parity[i] ^= second[i];
    }
    return List.of(first, second, parity);
  }

  private static void putGroup(
      Transaction transaction, long file, int index, long groupId, long stripeId, int length) {
    transaction.put(
        Tables.BLOCK,
        Tables.block(file, index),
        BlockRow.newBuilder()
            .setBlockId(groupId)
            .setGenerationStamp(1001)
            .setLengthBytes(length)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(1)
            .setEcPolicyId(POLICY)
            .setInternalOwnerId(stripeId)
            .build());
  }

  private void putBlocks(
      Transaction transaction,
      long file,
      int index,
      long groupId,
      long stripeId,
      List<byte[]> blocks)
      throws IOException {
    StripeRow.Builder stripe =
        StripeRow.newBuilder()
            .setId(stripeId)
            .setCode(LAYOUT.codeName())
            .setUnitLengthBytes(blocks.get(0).length)
            .setGeneration(1)
            .setPolicy("")
            .setCreatedMillis(1)
            .setSingle(true)
            .setGroupFileId(file)
            .setGroupIndex(index)
            .setGroupDataUnits(2);
    for (int unit = 0; unit < blocks.size(); unit++) {
      byte[] bytes = blocks.get(unit);
      if (bytes.length == 0) {
        continue;
      }
      long blockId = groupId + unit;
      BlockRows.putBlock(
          transaction,
          stripeId,
          unit,
          BlockRow.newBuilder()
              .setBlockId(blockId)
              .setGenerationStamp(1001)
              .setLengthBytes(bytes.length)
              .setState(BlockStateProto.COMPLETE)
              .setReplication(1)
              .setStripeId(stripeId)
              .setStripePosition(unit)
              .setGroupFileId(file)
              .setGroupIndex(index)
              .build());
      String disk = "disk-%02d-00".formatted((index + unit) % 6);
      cluster.servers.put(disk, blockId, bytes);
      BlockRows.addReplica(
          transaction, cluster.servers, stripeId, blockId, 1001, bytes.length, disk);
      stripe.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(unit)
              .setBlockId(blockId)
              .setGenerationStamp(1001)
              .setLengthBytes(bytes.length)
              .setOwnerId(stripeId)
              .setOwnerIndex(unit));
    }
    transaction.put(Tables.STRIPE, Tables.stripe(stripeId), stripe.build());
  }

  private ProposedProto propose(long... files) throws Exception {
    return cluster.propose(
        TransitionKindProto.RELEASE,
        LAYOUT.codeName(),
        Arrays.stream(files).boxed().toList(),
        List.of());
  }

  private ClaimedTransitionProto proposeAndClaim(long file) throws Exception {
    ProposedProto proposed = propose(file);
    assertThat(proposed.getRefusal()).isEmpty();
    assertThat(proposed.getTransitionIdsCount()).isEqualTo(1);
    return cluster.claim(1).get(0);
  }

  private Row<InodeRow> inode(long file) throws IOException {
    return cluster.store.transact(file, t -> FileRows.find(t, file)).orElseThrow();
  }

  private void change(long file, UnaryOperator<InodeRow.Builder> how) throws IOException {
    Row<InodeRow> row = inode(file);
    cluster.store.transact(
        file,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.INODE, row.key())));
          transaction.put(Tables.INODE, row.key(), how.apply(row.value().toBuilder()).build());
          return null;
        });
  }

  private TransitionRow transition() throws Exception {
    List<TransitionRow> rows = cluster.transitions();
    return rows.get(rows.size() - 1);
  }

  // ---- what must hold ---------------------------------------------------------------------------

  private void assertReplicated(long file) throws Exception {
    InodeRow row = inode(file).value();
    assertThat(row.hasEcPolicyId()).isFalse();
    assertThat(row.getReplication()).isEqualTo(3);
    assertThat(row.getLengthBytes()).isEqualTo(data.length);
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    for (int index = 0; index < row.getBlocks(); index++) {
      BlockRow block = cluster.block(file, index);
      assertThat(GroupRows.isGroup(block)).isFalse();
      assertThat(block.hasStripeId()).isFalse();
      List<String> disks = cluster.live(file, index);
      Set<String> servers = new HashSet<>();
      for (String disk : disks) {
        servers.add(cluster.servers.serverOf(disk));
        assertThat(
                Arrays.equals(
                    cluster.servers.on(disk).get(block.getBlockId()),
                    cluster.servers.on(disks.get(0)).get(block.getBlockId())))
            .isTrue();
      }
      assertThat(servers).hasSize(3);
      read.write(cluster.servers.on(disks.get(0)).get(block.getBlockId()));
    }
    assertThat(Arrays.equals(read.toByteArray(), data)).isTrue();
    assertThat(cluster.stripeIds()).isEmpty();
    whole();
  }

  private void assertStriped(long file, int groups) throws Exception {
    assertThat(inode(file).value().getEcPolicyId()).isEqualTo(POLICY);
    assertThat(inode(file).value().getBlocks()).isEqualTo(groups);
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    for (int index = 0; index < groups; index++) {
      BlockRow group = cluster.block(file, index);
      List<byte[]> units = new ArrayList<>();
      for (int unit = 0; unit < LAYOUT.neededBlocks(group.getLengthBytes()); unit++) {
        long blockId = group.getBlockId() + unit;
        units.add(
            cluster.servers.disks().stream()
                .map(disk -> cluster.servers.on(disk).get(blockId))
                .filter(bytes -> bytes != null)
                .findFirst()
                .orElseThrow());
      }
      for (long at = 0; at < group.getLengthBytes(); at += CELL) {
        int cell = (int) (at / CELL);
        int start = cell / 2 * CELL;
        byte[] unit = units.get(cell % 2);
        read.write(unit, start, Math.min(CELL, unit.length - start));
      }
    }
    assertThat(Arrays.equals(read.toByteArray(), data)).isTrue();
    whole();
  }

  private void whole() throws Exception {
    cluster.assertConsistent();
    cluster.assertNoOrphans();
    cluster.assertSpaceAccounted();
  }

  // ---- the conversion ---------------------------------------------------------------------------

  @Test
  void aFileOfBlockGroupsBecomesAReplicatedFile() throws Exception {
    long file = createFile();
    InodeRow before = inode(file).value();
    FileStatusProto listed = listed(file);
    assertThat(listed.getReplication()).isEqualTo(3);
    assertThat(listed.getGroupStoredBytes())
        .isEqualTo(LAYOUT.consumedBytes(GROUP) + LAYOUT.consumedBytes(SHORT_GROUP));
    assertStriped(file, 2);

    ClaimedTransitionProto claimed = proposeAndClaim(file);
    TransitionOutcome outcome = cluster.execute(claimed);
    assertThat(outcome.result()).as(outcome.detail()).isEqualTo(TransitionOutcome.Result.COMMITTED);

    assertReplicated(file);
    cluster.assertSpaceExact();
    InodeRow after = inode(file).value();
    assertThat(after)
        .isEqualTo(
            before.toBuilder()
                .clearEcPolicyId()
                .setReplication(3)
                .setBlocks(3)
                .setReleasedMillis(cluster.now())
                .build());
    assertThat(cluster.block(file, 0).getLengthBytes()).isEqualTo(BLOCK);
    assertThat(cluster.block(file, 2).getLengthBytes()).isEqualTo(SHORT_GROUP);
    TransitionRow done = transition();
    assertThat(done.getState()).isEqualTo(TransitionStateProto.DONE);
    assertThat(done.getDataBytes()).isEqualTo(data.length);
    assertThat(done.getBytesRead()).isEqualTo(3L * data.length);
    assertThat(done.getBytesWritten()).isEqualTo(3L * data.length);
    assertThat(done.getChecks()).as("a check of each replica").isEqualTo(9);
    assertThat(listed(file).hasGroupStoredBytes()).isFalse();
  }

  private FileStatusProto listed(long file) throws Exception {
    return cluster
        .coding
        .listFiles(null, ListFilesRequestProto.newBuilder().addInodeIds(file).build())
        .getFiles(0);
  }

  @Test
  void theBlocksCanBeEncodedAfterwards() throws Exception {
    long file = createFile();
    propose(file);
    cluster.runAll();
    cluster.propose(TransitionKindProto.ENCODE, "RS(6,3)", List.of(file), List.of());
    cluster.runAll();
    assertThat(cluster.block(file, 0).hasStripeId()).isTrue();
    whole();
  }

  @Test
  void aFailedAttemptLeavesTheFileAsItWasAndItsBlocksGo() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    cluster.run(claimed);
    cluster.assertSpaceAccounted();
    cluster.fail(claimed, "the raid-node stopped");
    assertStriped(file, 2);
    long left =
        claimed.getTransition().getOutputsList().stream()
            .filter(o -> cluster.servers.on(o.getStorageUuid()).containsKey(o.getBlockId()))
            .count();
    assertThat(left).as("replicas that are left of the attempt").isZero();
    cluster.runAll();
    assertReplicated(file);
  }

  @Test
  void anExecutorThatDiesIsFollowedByAnotherAndItsLateCommitIsRefused() throws Exception {
    long file = createFile();
    ClaimedTransitionProto first = proposeAndClaim(file);
    assertThat(cluster.claim("other", 1)).as("one executor at a time").isEmpty();
    List<CombineResponseProto> results = cluster.run(first);
    cluster.advance(CodingCluster.LEASE_MILLIS + 1);
    cluster.coding.tick();
    cluster.advance(60_000);
    ClaimedTransitionProto second = cluster.claim(1).get(0);
    assertThat(cluster.commit(first, results).getRefusal()).contains("is over");
    assertStriped(file, 2);
    assertThat(cluster.commit(second, cluster.run(second)).getCommitted()).isTrue();
    assertReplicated(file);
  }

  @Test
  void aNamenodeThatRestartsCommitsTheAttemptAndARepeatedCommitChangesNothing() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    List<CombineResponseProto> results = cluster.run(claimed);
    cluster.restart();
    cluster.blocks.reportAll();
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    InodeRow after = inode(file).value();
    assertReplicated(file);
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    assertThat(inode(file).value()).isEqualTo(after);
    assertReplicated(file);
  }

  // ---- what stops it ----------------------------------------------------------------------------

  @Test
  void whatCannotBeConvertedIsRefusedWithTheReason() throws Exception {
    long replicated = cluster.createFile(1, 64, true);
    long file = createFile();
    assertThat(propose(replicated).getRefusal()).contains("its client has not encoded it");
    assertThat(propose(4_711).getRefusal()).contains("no file has the id 4711");
    change(file, row -> row.setUnderConstruction(writer()));
    assertThat(propose(file).getRefusal()).contains("is being written");
    change(file, row -> row.clearUnderConstruction().setVersions(1));
    assertThat(propose(file).getRefusal()).contains("shown by a snapshot");
    change(file, row -> row.clearVersions());
    assertThat(propose(file).getTransitionIdsCount()).isEqualTo(1);
    assertThat(propose(file).getRefusal()).contains("is in transition");
    int[] many = new int[62];
    Arrays.fill(many, 1);
    assertThat(propose(createFile(many)).getRefusal()).contains("more than the 1000");
  }

  private static UnderConstructionProto writer() {
    return UnderConstructionProto.newBuilder().setClientName("c").setClientMachine("m").build();
  }

  @Test
  void anAppendMeanwhileRefusesTheCommit() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    List<CombineResponseProto> results = cluster.run(claimed);
    change(file, row -> row.setUnderConstruction(writer()));
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("is being written");
    change(file, row -> row.clearUnderConstruction());
    assertStriped(file, 2);
  }

  @Test
  void aSnapshotMeanwhileRefusesTheCommitAndTheConversionEnds() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    List<CombineResponseProto> results = cluster.run(claimed);
    change(file, row -> row.setVersions(1));
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("shown by a snapshot");
    cluster.advance(60_000);
    assertThat(cluster.claim(1)).isEmpty();
    assertThat(transition().getState()).isEqualTo(TransitionStateProto.DROPPED);
    change(file, row -> row.clearVersions());
    assertStriped(file, 2);
    assertThat(cluster.stripeList()).noneMatch(s -> s.getStripe().hasTransitionId());
  }

  @Test
  void aDeletionMeanwhileRefusesTheCommitAndLeavesNothing() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    List<CombineResponseProto> results = cluster.run(claimed);
    delete(file);
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("no file has the id");
    cluster.runAll();
    assertThat(transition().getState()).isEqualTo(TransitionStateProto.DROPPED);
    whole();
    cluster.blocks.reportAll();
    for (String disk : cluster.servers.disks()) {
      assertThat(cluster.servers.on(disk)).isEmpty();
    }
  }

  private void delete(long file) throws IOException {
    Key key = inode(file).key();
    List<Invalidation> gone =
        cluster.store.transact(
            file,
            transaction -> {
              List<Row<BlockRow>> groups = transaction.scan(Tables.BLOCK, file);
              List<RowLock> locks = new ArrayList<>(List.of(RowLock.exclusive(Tables.INODE, key)));
              groups.forEach(group -> locks.add(GroupRows.lockOf(group.value())));
              transaction.lock(locks);
              List<Invalidation> all = new ArrayList<>();
              for (Row<BlockRow> group : groups) {
                all.addAll(GroupRows.release(transaction, cluster.blocks, group.value()));
                transaction.delete(Tables.BLOCK, group.key());
              }
              transaction.delete(Tables.INODE, key);
              transaction.delete(Tables.INODE_NAME, Tables.inodeName(file));
              return all;
            });
    cluster.blocks.invalidate(gone);
  }

  @Test
  void aGroupThatHasLostABlockIsRepairedFirst() throws Exception {
    long file = createFile();
    cluster.servers.failDisk("disk-00-00");
    assertThat(propose(file).getRefusal()).contains("repaired first");
    cluster.runAll();
    assertStriped(file, 2);
    propose(file);
    cluster.runAll();
    assertReplicated(file);
  }

  @Test
  void aBlockThatIsLostMeanwhileFailsTheAttempt() throws Exception {
    long file = createFile();
    propose(file);
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    cluster.servers.failDisk("disk-00-00");
    assertThat(cluster.execute(claimed).result()).isEqualTo(TransitionOutcome.Result.FAILED);
    cluster.runAll();
    assertThat(transition().getState()).isEqualTo(TransitionStateProto.DROPPED);
    cluster.runAll(); // the repair
    assertThat(inode(file).value().hasEcPolicyId()).isTrue();
    assertStriped(file, 2);
  }

  @Test
  void newBlocksWithTooFewReplicasAreNotPublished() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    List<CombineResponseProto> results = cluster.run(claimed);
    List<String> disks =
        claimed.getTransition().getOutputsList().stream()
            .filter(o -> o.getStripeIndex() == 1)
            .map(o -> cluster.servers.serverOf(o.getStorageUuid()))
            .toList();
    disks.subList(0, 2).forEach(cluster.servers::silence);
    assertThat(cluster.commit(claimed, results).getCommitted()).isFalse();
    disks.forEach(cluster.servers::speak);
    assertStriped(file, 2);
  }

  // ---- wrong bytes ------------------------------------------------------------------------------

  @Test
  void wrongBytesAreNotPublished() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    cluster.servers.outputFault = outputs -> outputs.get(0)[12_345] ^= 1;
    TransitionOutcome outcome = cluster.execute(claimed);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("the cells of the group");
    cluster.servers.outputFault = outputs -> {};
    assertStriped(file, 2);
    assertThat(cluster.counter("verificationsFailed.RELEASE")).isEqualTo(1);
  }

  @Test
  void chunkServersOfAnEarlierVersionMakeNothingOfIt() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    cluster.servers.ignoresCells = true;
    TransitionOutcome outcome = cluster.execute(claimed);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("give the chunk server the namenode's version");
    assertStriped(file, 2);
  }

  @Test
  void aCommitOfARaidNodeThatMadeNoSuchChecksIsRefused() throws Exception {
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    CommitRequestProto.Builder request =
        CommitRequestProto.newBuilder()
            .setWorker(CodingCluster.WORKER)
            .setTransitionId(claimed.getTransition().getId())
            .setAttempt(claimed.getTransition().getAttempt())
            .addAllResults(cluster.run(claimed))
            .setChecksPassed(claimed.getChecksCount());
    assertThat(cluster.coding.commit(null, request.build()).getRefusal())
        .contains("0 of 9 blocks")
        .contains("the namenode's version");
    assertStriped(file, 2);
    request.setGatheredChecksPassed(9);
    assertThat(cluster.coding.commit(null, request.build()).getCommitted()).isTrue();
    assertReplicated(file);
  }

  @Test
  void theChecksAreMadeThoughNoneAreAskedFor() throws Exception {
    TransitionSettings off =
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
            Verification.OFF,
            false);
    cluster = new CodingCluster(6, 2, 9, off);
    long file = createFile();
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    assertThat(claimed.getChecksCount()).isEqualTo(9);
    assertThat(cluster.execute(claimed).result()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertReplicated(file);
  }

  @Test
  void groupsThatAreNotAllThereAreNotReplaced() throws Exception {
    long file = createFile();
    change(file, row -> row.setBlocks(3));
    assertThat(propose(file).getRefusal()).contains("are not the 3 blocks");
    change(file, row -> row.setBlocks(2).setLengthBytes(data.length + 1));
    assertThat(propose(file).getRefusal()).contains("the 2 block groups");
    change(file, row -> row.setLengthBytes(data.length));
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    assertThat(cluster.commit(claimed, cluster.run(claimed)).getCommitted()).isTrue();
    assertReplicated(file);
  }

  // ---- quotas -----------------------------------------------------------------------------------

  private void countDirectory() throws IOException {
    cluster.store.transact(
        COUNTED_DIRECTORY,
        transaction -> {
          for (int shard = 0; shard < QuotaRows.SHARDS; shard++) {
            transaction.put(
                Tables.QUOTA,
                Tables.quota(COUNTED_DIRECTORY, shard),
                QuotaRow.newBuilder()
                    .setNames(0)
                    .setBytes(0)
                    .setDeleted(0)
                    .setComplete(shard == 0)
                    .build());
          }
          return null;
        });
  }

  private void limit(long bytes) throws IOException {
    cluster.store.transact(
        COUNTED_DIRECTORY,
        transaction -> {
          QuotaRows.changeLimits(
              transaction,
              COUNTED_DIRECTORY,
              before -> QuotaLimitsProto.newBuilder().setBytes(bytes).build());
          return null;
        });
  }

  private long counted() throws IOException {
    return totals().bytes();
  }

  private QuotaRows.Totals totals() throws IOException {
    return cluster
        .store
        .transact(COUNTED_DIRECTORY, t -> QuotaRows.totals(t, COUNTED_DIRECTORY))
        .orElseThrow();
  }

  @Test
  void aQuotaCountsReplicasAfterwardsAndStopsWhatItHasNoRoomFor() throws Exception {
    countDirectory();
    long file = createFile();
    long striped = LAYOUT.consumedBytes(GROUP) + LAYOUT.consumedBytes(SHORT_GROUP);
    assertThat(counted()).isEqualTo(striped);
    limit(3L * data.length - 1);
    assertThat(propose(file).getRefusal()).contains("raise the quota");

    limit(3L * data.length);
    ClaimedTransitionProto claimed = proposeAndClaim(file);
    List<CombineResponseProto> results = cluster.run(claimed);
    limit(3L * data.length - 1);
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("quota");
    assertThat(transition().getState()).isEqualTo(TransitionStateProto.FAILED);
    assertStriped(file, 2);
    assertThat(counted()).isEqualTo(striped);

    limit(3L * data.length);
    propose(file);
    cluster.runAll();
    assertReplicated(file);
    assertThat(counted()).isEqualTo(3L * data.length);
  }

  /** The file has a policy for which its groups count on disks, as its replicas do. */
  @Test
  void aQuotaOfATypeStopsAReleaseBeforeItsWork() throws Exception {
    countDirectory();
    long file = createFile();
    int hot = StoragePolicies.named("HOT").orElseThrow().getId();
    change(file, row -> row.setStoragePolicy(hot).setCountedTypes(true));
    cluster.store.transact(
        COUNTED_DIRECTORY,
        transaction -> {
          QuotaRows.complete(transaction, COUNTED_DIRECTORY, true);
          return null;
        });
    limitDisks(3L * data.length - 1);
    assertThat(propose(file).getRefusal()).contains("bytes on DISK: raise the quota");
    limitDisks(3L * data.length);
    propose(file);
    cluster.runAll();
    assertReplicated(file);
    assertThat(totals().types(hot)).isEqualTo(Map.of(StorageType.DISK, 3L * data.length));
  }

  private void limitDisks(long bytes) throws IOException {
    TypeLimitProto limit = TypeLimitProto.newBuilder().setType("DISK").setBytes(bytes).build();
    cluster.store.transact(
        COUNTED_DIRECTORY,
        transaction -> {
          QuotaRows.changeLimits(
              transaction,
              COUNTED_DIRECTORY,
              before -> QuotaLimitsProto.newBuilder().addTypes(limit).build());
          return null;
        });
  }
}
