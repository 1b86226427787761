package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.PersistentCounters;
import io.ebbfs.namenode.stripes.DegradedReadPlanner;
import io.ebbfs.namenode.stripes.ProtoConverter;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.protocol.DatanodeInfoWithStorage;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The proxies for a lost block, and the reads in the plan that each proxy gets. */
class ProxyChoiceTest {
  private static final long STRIPE = 1L << 40;

  final List<Long> members = new ArrayList<>();
  BlockFixture f;

  /** A stripe of blocks with one replica each, on disks at random. */
  void encode(String codeName, long seed) throws IOException {
    encode(codeName, seed, 11);
  }

  void encode(String codeName, long seed, int servers) throws IOException {
    f = new BlockFixture(seed, servers, 4);
    members.clear();
    f.registerAll();
    f.second();
    ErasureCode code = Codes.byName(codeName);
    StripeRow.Builder stripe =
        StripeRow.newBuilder()
            .setId(STRIPE)
            .setCode(codeName)
            .setUnitLengthBytes(BlockFixture.BLOCK_BYTES)
            .setGeneration(1)
            .setPolicy("test")
            .setCreatedMillis(1);
    for (int position = 0; position < code.size(); position++) {
      members.add(f.addMember(stripe, position).getBlockId());
    }
  }

  LocatedBlock locate(long blockId) throws IOException {
    long owner = f.ownerOf(blockId);
    return f.store.transact(
        owner, t -> f.manager.locate(t, owner, f.blocks.get(blockId), 0, "127.0.0.1"));
  }

  GetReadPlanResponseProto planFor(String requester, long blockId) throws IOException {
    DegradedReadPlanner plans =
        new DegradedReadPlanner(
            f.store,
            CodeRegistry.builtIn(),
            f.cluster,
            new ProtoConverter("BP-1", f.cluster),
            new PersistentCounters(f.store));
    return plans.plan(
        GetReadPlanRequestProto.newBuilder()
            .setBlock(
                ExtendedBlockProto.newBuilder()
                    .setPoolId("BP-1")
                    .setBlockId(blockId)
                    .setGenerationStamp(1001))
            .setRequesterUuid(requester)
            .build());
  }

  private static long remote(GetReadPlanResponseProto plan, String requester) {
    return plan.getSourcesList().stream()
        .filter(
            source ->
                source.getLocationsList().stream()
                    .noneMatch(l -> l.getServer().getDatanodeUuid().equals(requester)))
        .count();
  }

  @ParameterizedTest
  @CsvSource({"PC(2x5),2", "'LRC(12,6,2)',2", "'RS(6,3)',6", "'RS(10,4)',10", "PC(6x5),5"})
  void proxiesHoldASourceAndReadOneLessOverTheirLinks(String code, int reads) throws IOException {
    for (long seed = 1; seed <= 10; seed++) {
      encode(code, seed);
      long lost = members.get(0);
      SimulatedServer holder = f.holder(f.physical(lost).iterator().next());
      holder.kill();
      f.seconds(15);
      DatanodeInfoWithStorage[] proxies = locate(lost).getLocations();
      assertThat(proxies).as("seed %d", seed).hasSize(3);
      int holdersOfSources = 0;
      for (DatanodeInfoWithStorage proxy : proxies) {
        String uuid = proxy.getDatanodeUuid();
        assertThat(uuid).isNotEqualTo(holder.uuid);
        GetReadPlanResponseProto plan = planFor(uuid, lost);
        holdersOfSources += remote(plan, uuid) < plan.getSourcesCount() ? 1 : 0;
      }
      String first = proxies[0].getDatanodeUuid();
      GetReadPlanResponseProto plan = planFor(first, lost);
      assertThat(remote(plan, first))
          .as("seed %d: %s of %d", seed, code, plan.getSourcesCount())
          .isLessThan(plan.getSourcesCount());
      assertThat(holdersOfSources).as("seed %d", seed).isGreaterThanOrEqualTo(reads > 2 ? 2 : 1);
      // Other losses by the same server may make the plan longer, never shorter.
      assertThat(plan.getSourcesCount()).as("seed %d", seed).isGreaterThanOrEqualTo(reads);
    }
  }

  @ParameterizedTest
  @CsvSource({"PC(2x5)", "'RS(6,3)'"})
  void aBlockWithAReplicaNamesItFirstAndAnyProxies(String code) throws IOException {
    encode(code, 3);
    long block = members.get(0);
    DatanodeInfoWithStorage[] places = locate(block).getLocations();
    assertThat(places).hasSize(4);
    assertThat(places[0].getStorageID()).isEqualTo(f.physical(block).iterator().next());
  }

  /** More servers than the sample among which proxies are drawn. */
  @ParameterizedTest
  @CsvSource({"PC(2x5)"})
  void anyServerOfALargeClusterButTheHolderIsAProxyInItsTurn(String code) throws IOException {
    int servers = 40;
    encode(code, 3, servers);
    long block = members.get(0);
    Set<String> proxies = new HashSet<>();
    for (int i = 0; i < 400; i++) {
      DatanodeInfoWithStorage[] places = locate(block).getLocations();
      String holder = places[0].getDatanodeUuid();
      Set<String> some =
          Arrays.stream(places)
              .skip(1)
              .map(DatanodeInfoWithStorage::getDatanodeUuid)
              .collect(Collectors.toSet());
      assertThat(some).hasSize(3).doesNotContain(holder);
      proxies.addAll(some);
    }
    assertThat(proxies).hasSize(servers - 1);
  }

  @ParameterizedTest
  @CsvSource({"PC(2x5)"})
  void whoListsAMillionLostBlocksGetsProxiesWithoutAPlan(String code) throws IOException {
    encode(code, 1);
    long lost = members.get(0);
    f.holder(f.physical(lost).iterator().next()).kill();
    f.seconds(15);
    for (int i = 0; i < 1_000; i++) {
      locate(lost);
    }
    List<String> first = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      first.add(locate(lost).getLocations()[0].getDatanodeUuid());
    }
    assertThat(first.stream().distinct().count()).isGreaterThan(4);
    f.second();
    String planned = locate(lost).getLocations()[0].getDatanodeUuid();
    GetReadPlanResponseProto plan = planFor(planned, lost);
    assertThat(remote(plan, planned)).isLessThan(plan.getSourcesCount());
  }

  /** A busy holder of sources comes after a calm holder. */
  @ParameterizedTest
  @CsvSource({"PC(2x5)"})
  void lessBusyHoldersComeFirst(String code) throws IOException {
    encode(code, 5);
    long lost = members.get(0);
    f.holder(f.physical(lost).iterator().next()).kill();
    f.seconds(15);
    String calm = locate(lost).getLocations()[0].getDatanodeUuid();
    f.servers.get(calm).activeTransfers = 50;
    f.second();
    assertThat(locate(lost).getLocations()[0].getDatanodeUuid()).isNotEqualTo(calm);
  }
}
