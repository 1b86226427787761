package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.proto.CodingProtos.ScanStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.Test;

/** The scan of all stripes goes on where the last process stood. */
class StripeScanRestartTest {
  private static final int STRIPES = 5;

  /** One tick checks two stripes. */
  private static final TransitionSettings SETTINGS =
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
          2,
          0.5,
          Verification.ON,
          false);

  private CodingCluster cluster;

  private ScanStatusProto scan() throws ServiceException {
    return cluster.cluster().getScansList().stream()
        .filter(scan -> scan.getName().equals("stripes"))
        .findFirst()
        .orElseThrow();
  }

  /** The processes live for one tick each; only the scan can find the loss of the last stripe. */
  @Test
  void processesThatLiveForLessThanAPassCheckAllStripes() throws Exception {
    cluster = new CodingCluster(14, 6, 20_261_127L, SETTINGS);
    for (int i = 0; i < STRIPES; i++) {
      long file = cluster.createFile(6, 64, true);
      cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(file), List.of());
    }
    cluster.runAll();
    List<Long> stripes = cluster.stripeIds();
    assertThat(stripes).hasSize(STRIPES);
    long last = cluster.fileIds().get(STRIPES - 1);
    long stripeId = cluster.block(last, 0).getStripeId();
    cluster.servers.failDisk(cluster.live(last, 0).get(0));
    long failedMillis = cluster.now();

    for (int process = 0; process < 2 * STRIPES; process++) {
      cluster.restart();
      cluster.advance(1_000);
      cluster.coding.tick();
    }
    assertThat(cluster.active())
        .filteredOn(row -> row.getKind() == TransitionKindProto.REPAIR)
        .anyMatch(row -> repairs(row, stripeId));
    assertThat(scan().getRows()).isEqualTo(STRIPES);
    assertThat(scan().hasCompletedMillis())
        .as("what earlier processes have found is not counted")
        .isFalse();
    for (int tick = 0; tick < STRIPES; tick++) {
      cluster.advance(1_000);
      cluster.coding.tick();
    }
    assertThat(scan().getCompletedMillis()).isGreaterThan(failedMillis);
  }

  private static boolean repairs(TransitionRow row, long stripeId) {
    return row.getStripesList().stream().anyMatch(stripe -> stripe.getStripeId() == stripeId);
  }
}
