package io.ebbfs.namenode.stripes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.CannotPlanException;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.namenode.datanodes.ClusterView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReadCostEstimatorTest {
  /** Servers with one disk each: the name of a disk is "disk-" and the name of its server. */
  private record Servers(List<ClusterView.Server> liveServers) implements ClusterView {
    @Override
    public Optional<Server> server(String uuid) {
      return liveServers.stream().filter(s -> s.uuid().equals(uuid)).findFirst();
    }

    @Override
    public Optional<Disk> disk(String storageUuid) {
      String server = storageUuid.substring("disk-".length());
      return Optional.of(new Disk(storageUuid, 1, server, false, 1, 0, 1));
    }

    @Override
    public boolean inSafeMode() {
      return false;
    }
  }

  private static ClusterView.Server server(String uuid, long heartbeatMillis, int transfers) {
    return new ClusterView.Server(
        uuid, uuid, "127.0.0.1", 1, 2, 3, "/r", true, heartbeatMillis, transfers, List.of());
  }

  @Test
  void silentBusyAndNearServersCostDifferently() {
    ClusterView cluster =
        new Servers(
            List.of(
                server("idle", 100_000, 0),
                server("near", 99_000, 50),
                server("busy", 100_000, 50),
                server("silent", 90_000, 0),
                server("calm", 100_000, 3)));
    ReadCostEstimator costs = new ReadCostEstimator(cluster, "near");
    assertThat(costs.of(List.of("disk-idle"))).isEqualTo(ReadCostEstimator.COST);
    assertThat(costs.of(List.of("disk-calm"))).isEqualTo(ReadCostEstimator.COST);
    assertThat(costs.of(List.of("disk-near"))).isEqualTo(ReadCostEstimator.LOCAL_COST);
    assertThat(costs.of(List.of("disk-busy"))).isEqualTo(ReadCostEstimator.BUSY_COST);
    assertThat(costs.of(List.of("disk-silent"))).isEqualTo(ReadCostEstimator.SILENT_COST);
    assertThat(costs.of(List.of("disk-unheard"))).isEqualTo(ReadCostEstimator.SILENT_COST);
    assertThat(costs.of(List.of("disk-silent", "disk-idle"))).isEqualTo(ReadCostEstimator.COST);
    assertThat(costs.of(List.of())).isEqualTo(ReadCostEstimator.COST);
    assertThat(costs.isSilent("disk-silent")).isTrue();
    assertThat(costs.isSilent("disk-busy")).isFalse();
  }

  @Test
  void aRepairReadsNoMoreBlocksForABusyServerAndPrefersOthersOtherwise() throws Exception {
    List<ClusterView.Server> servers = new ArrayList<>();
    // Position p is on server p; the first row's servers are busy.
    for (int p = 0; p < 42; p++) {
      servers.add(server(Integer.toString(p), 100_000, p < 5 ? 500 : 0));
    }
    ClusterView cluster = new Servers(servers);
    ErasureCode product = Codes.byName("PC(6x5)");
    Set<Integer> all = positions(product.size());
    assertThat(reads(ReadCostEstimator.ofRepairs(cluster), product, all)).hasSize(5);
    assertThat(reads(new ReadCostEstimator(cluster, ""), product, all)).hasSize(6);
    ErasureCode single = Codes.byName("RS(6,3)");
    assertThat(reads(ReadCostEstimator.ofRepairs(cluster), single, positions(9)))
        .hasSize(6)
        .contains(5, 6, 7, 8);
  }

  private static Set<Integer> positions(int count) {
    return IntStream.range(0, count).boxed().collect(Collectors.toCollection(TreeSet::new));
  }

  /** The positions that the repair of position 0 reads. */
  private static Set<Integer> reads(
      ReadCostEstimator costs, ErasureCode code, Set<Integer> occupied) throws CannotPlanException {
    List<CombinePlan> plans =
        Planner.repair(
            code, occupied, Set.of(0), Set.of(), position -> costs.of(List.of("disk-" + position)));
    Set<Integer> read = new TreeSet<>();
    plans.forEach(plan -> read.addAll(plan.inputPositions()));
    return read;
  }
}
