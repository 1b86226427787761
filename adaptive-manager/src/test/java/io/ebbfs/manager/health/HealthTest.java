package io.ebbfs.manager.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.heat.ReadCounter;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.util.List;
import org.junit.jupiter.api.Test;

class HealthTest {
  private static GetClusterResponseProto.Builder cluster() {
    return GetClusterResponseProto.newBuilder()
        .setFiles(0)
        .setLogicalBytes(0)
        .setStoredBytes(0)
        .setUnderReplicatedBlocks(0)
        .setMissingBlocks(0)
        .setUnrecoverableStripes(0)
        .setSafeMode(false);
  }

  private static Health.Report health(GetClusterResponseProto.Builder cluster) {
    return Health.report(
        cluster.build(),
        null,
        new ReadCounter.Status(true, "", 0, 0, 0, 0),
        new LivePolicies.Current(null, 0, List.of()),
        null,
        List.of(),
        null);
  }

  @Test
  void aTruncationThatDoesNotGoOnIsAWarningWithItsReason() {
    assertThat(health(cluster()).status()).isEqualTo(Health.Level.OK);
    Health.Report report =
        health(
            cluster()
                .setStuckTruncations(2)
                .setStuckTruncation("file 7: stripe 77 does not decode"));
    assertThat(report.status()).isEqualTo(Health.Level.WARNING);
    assertThat(report.messages())
        .singleElement()
        .matches(m -> m.message().startsWith("2 truncations do not go on"))
        .matches(m -> m.message().endsWith("file 7: stripe 77 does not decode"));
  }
}
