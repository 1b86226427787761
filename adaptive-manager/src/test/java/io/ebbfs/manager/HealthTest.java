package io.ebbfs.manager;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.heat.OpenConsumer;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.util.List;
import org.junit.jupiter.api.Test;

class HealthTest {
  private static Health.Report report(long violations, long beingMended) {
    GetClusterResponseProto cluster =
        GetClusterResponseProto.newBuilder()
            .setFiles(1)
            .setLogicalBytes(1)
            .setStoredBytes(1)
            .setUnderReplicatedBlocks(0)
            .setMissingBlocks(0)
            .setUnrecoverableStripes(0)
            .setSafeMode(false)
            .addCounters(count("placementViolations", violations))
            .addCounters(count("placementViolations.stripes", violations))
            .addCounters(count("placementViolations.beingMended", beingMended))
            .build();
    return Health.report(
        cluster,
        null,
        new OpenConsumer.Status(true, "", 0, 0, 0, 0),
        new LivePolicies.Current(null, 0, List.of()),
        null,
        List.of());
  }

  private static CountProto count(String name, long value) {
    return CountProto.newBuilder().setName(name).setValue(value).build();
  }

  @Test
  void placementViolationsAreAWarning() {
    assertThat(report(0, 0).messages()).isEmpty();
    Health.Report mended = report(5, 2);
    assertThat(mended.status()).isEqualTo(Health.Level.WARNING);
    assertThat(mended.messages().get(0).message())
        .isEqualTo("5 placement violations in 5 stripes, being mended");
    assertThat(report(5, 0).messages().get(0).message()).endsWith("not being mended now");
  }
}
