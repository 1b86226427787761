package io.ebbfs.namespace.stripe;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namespace.block.ClusterView;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SourceCostsTest {
  /** Servers with one disk each, named "disk-" and the server. */
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
    SourceCosts costs = new SourceCosts(cluster, "near");
    assertThat(costs.of(List.of("disk-idle"))).isEqualTo(SourceCosts.COST);
    assertThat(costs.of(List.of("disk-calm"))).isEqualTo(SourceCosts.COST);
    assertThat(costs.of(List.of("disk-near"))).isEqualTo(SourceCosts.LOCAL_COST);
    assertThat(costs.of(List.of("disk-busy"))).isEqualTo(SourceCosts.BUSY_COST);
    assertThat(costs.of(List.of("disk-silent"))).isEqualTo(SourceCosts.SILENT_COST);
    assertThat(costs.of(List.of("disk-unheard"))).isEqualTo(SourceCosts.SILENT_COST);
    assertThat(costs.of(List.of("disk-silent", "disk-idle"))).isEqualTo(SourceCosts.COST);
    assertThat(costs.of(List.of())).isEqualTo(SourceCosts.COST);
    assertThat(costs.isSilent("disk-silent")).isTrue();
    assertThat(costs.isSilent("disk-busy")).isFalse();
  }
}
