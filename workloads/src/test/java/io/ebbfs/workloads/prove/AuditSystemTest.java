package io.ebbfs.workloads.prove;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.Codes;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the kill matrix relies on finds what is planted. */
class AuditSystemTest {
  private static final long SEED = 7;
  private static final long ORPHANS_MILLIS = 1_000;

  @TempDir Path directory;

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void findsWhatIsPlanted() throws Exception {
    System.out.println("seed " + SEED);
    try (ProvingCluster cluster = ProvingCluster.start(directory.resolve("cluster"), 7, 4, "")) {
      cluster.write("/file", new byte[1000]);
      wrongFilesAndOrphansAreFound(cluster);
      cluster.delete("/file");
      wrongParitiesAreFound(cluster);
    }
  }

  private static void wrongFilesAndOrphansAreFound(ProvingCluster cluster) throws Exception {
    Map<String, byte[]> right = Map.of("/file", new byte[1000]);
    assertThat(found(cluster, Map.of("/file", new byte[1001])))
        .anyMatch(w -> w.contains("differs"));
    assertThat(found(cluster, Map.of("/none", new byte[1]))).anyMatch(w -> w.contains("/none"));

    Path stray = cluster.local().diskDirectory(0, 0).resolve("finalized/00/blk_256");
    Files.createDirectories(stray.getParent());
    Files.write(stray, new byte[10]);
    assertThat(found(cluster, right)).anyMatch(what -> what.contains("blocks on disks"));
    Files.delete(stray);
    assertThat(new Audit(cluster).all(right).wrong()).isEmpty();
  }

  private static void wrongParitiesAreFound(ProvingCluster cluster) throws Exception {
    // Everything that comes before an upcode: files in stripes of RS(6,3).
    Scenario scenario =
        new Scenario(
            cluster, TransitionKindProto.UPCODE, Codes.family("rs"), new Random(SEED), "/files");
    scenario.prepare();
    assertThat(new Audit(cluster).all(scenario.files()).wrong()).isEmpty();

    Path parity = parity(cluster);
    byte[] bytes = Files.readAllBytes(parity);
    bytes[bytes.length / 2] ^= 1;
    Files.write(parity, bytes);
    assertThat(found(cluster, scenario.files()))
        .anyMatch(what -> what.contains("P0 does not follow from the data"))
        .anyMatch(what -> what.contains("BLOCK_CORRUPT"));
  }

  private static List<String> found(ProvingCluster cluster, Map<String, byte[]> files)
      throws Exception {
    return new Audit(cluster, ORPHANS_MILLIS).all(files).wrong();
  }

  /** The file of the first parity of a stripe. */
  private static Path parity(ProvingCluster cluster) throws Exception {
    StripeRow stripe = cluster.probe().stripes().get(0).getStripe();
    int first = Codes.byName(stripe.getCode()).dataCount();
    StripeMemberProto parity =
        stripe.getMembersList().stream()
            .filter(member -> member.getPosition() == first)
            .findFirst()
            .orElseThrow();
    return Disks.read(cluster.local()).byStorage().values().stream()
        .filter(blocks -> blocks.containsKey(parity.getBlockId()))
        .findFirst()
        .orElseThrow()
        .get(parity.getBlockId());
  }
}
