package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.cluster.DiskInventory;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.kills.TransitionScenario;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The audit, on which the kill matrix relies, finds planted damage. */
@Tag("process")
class ClusterAuditSystemTest {
  private static final long SEED = 7;
  private static final long ORPHANS_MILLIS = 1_000;

  @TempDir Path directory;

  @Test
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  void findsPlantedDamage() throws Exception {
    System.out.println("seed " + SEED);
    try (VerifyCluster cluster = VerifyCluster.start(directory.resolve("cluster"), 7, 4, "")) {
      cluster.write("/file", new byte[1000]);
      wrongFilesAndOrphansAreFound(cluster);
      cluster.delete("/file");
      wrongParitiesAreFound(cluster);
    }
  }

  private static void wrongFilesAndOrphansAreFound(VerifyCluster cluster) throws Exception {
    Map<String, byte[]> right = Map.of("/file", new byte[1000]);
    assertThat(wrong(cluster, Map.of("/file", new byte[1001])))
        .anyMatch(w -> w.contains("differs"));
    assertThat(wrong(cluster, Map.of("/none", new byte[1]))).anyMatch(w -> w.contains("/none"));

    Path stray = cluster.local().diskDirectory(0, 0).resolve("finalized/00/blk_256");
    Files.createDirectories(stray.getParent());
    Files.write(stray, new byte[10]);
    assertThat(wrong(cluster, right)).anyMatch(what -> what.contains("blocks on disks"));
    Files.delete(stray);
    assertThat(new ClusterAudit(cluster).all(right).wrong()).isEmpty();
  }

  private static void wrongParitiesAreFound(VerifyCluster cluster) throws Exception {
    // The preparation of a conversion to compact: files in stripes of RS(6,3).
    TransitionScenario scenario =
        new TransitionScenario(
            cluster,
            TransitionKindProto.UPCODE,
            CodeRegistry.builtIn().family("rs"),
            new Random(SEED),
            "/files");
    scenario.prepare();
    assertThat(new ClusterAudit(cluster).all(scenario.files()).wrong()).isEmpty();

    Path parity = parity(cluster);
    byte[] bytes = Files.readAllBytes(parity);
    bytes[bytes.length / 2] ^= 1;
    Files.write(parity, bytes);
    assertThat(wrong(cluster, scenario.files()))
        .anyMatch(what -> what.contains("P0 does not follow from the data"))
        .anyMatch(what -> what.contains("BLOCK_CORRUPT"));
  }

  private static List<String> wrong(VerifyCluster cluster, Map<String, byte[]> files)
      throws Exception {
    return new ClusterAudit(cluster, ORPHANS_MILLIS).all(files).wrong();
  }

  /** The file of the first parity of a stripe. */
  private static Path parity(VerifyCluster cluster) throws Exception {
    StripeRow stripe = cluster.probe().stripes().get(0).getStripe();
    int first = Codes.byName(stripe.getCode()).dataCount();
    StripeMemberProto parity =
        stripe.getMembersList().stream()
            .filter(member -> member.getPosition() == first)
            .findFirst()
            .orElseThrow();
    return DiskInventory.read(cluster.local()).byStorage().values().stream()
        .filter(blocks -> blocks.containsKey(parity.getBlockId()))
        .findFirst()
        .orElseThrow()
        .get(parity.getBlockId());
  }
}
