package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.PositionKind;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.process.LiveFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The scrubs find bad blocks that nobody reads, and repairs restore their bytes. */
@Timeout(600)
@Tag("process")
class ScrubSystemTest {
  private static final int BLOCK = TestCluster.BLOCK_BYTES;
  // As many disks as PC(6x5) has blocks.
  private static final int SERVERS = 7;
  private static final int DISKS = 6;
  private static final long PATIENCE_MILLIS = 180_000;

  private static final long SEED = new Random().nextLong();
  private static TestCluster test;
  private static NamenodeClient namenode;
  private static StockProcess client;

  @BeforeAll
  static void start() throws Exception {
    System.out.println("seed " + SEED);
    test =
        TestCluster.start(
            SERVERS,
            DISKS,
            Map.of(
                "namenode.yaml",
                "blockSize: 1MiB\nminBlockSize: 64KiB\n",
                "policies.yaml",
                "policies:\n" + policy("product") + policy("rs"),
                "manager.yaml",
                "schedule:\n  evaluateEvery: 500ms\n",
                "raid-node.yaml",
                "poll: 50ms\nscrub:\n  period: 500ms\n  stripesPerSecond: 1000\n  decodeShare: 1\n",
                "chunk-server.yaml",
                "scrub:\n  period: 1s\n  bytesPerSecond: 1GiB\n"));
    namenode = test.namenode();
    client = test.client(2);
  }

  private static String policy(String family) {
    return """
          - name: %s
            paths: [/%s]
            family: %s
            writeColdAfter: 1s
            readHot: {perFile: 1000}
            fillWait: 0
        """
        .formatted(family, family, family);
  }

  @AfterAll
  static void stop() throws Exception {
    if (test != null) {
      test.close();
    }
  }

  @Test
  void plantedDamageIsFoundAndRepaired() throws Exception {
    byte[] data = new byte[30 * BLOCK - 1000];
    new Random(SEED).nextBytes(data);
    Path file = Files.write(test.directory().resolve("data"), data);
    String product = client.put(file, "/product/file").get().sha256();
    String rs =
        client
            .put(
                Files.write(test.directory().resolve("rs"), Arrays.copyOf(data, 12 * BLOCK)),
                "/rs/file")
            .get()
            .sha256();
    StripeStatusProto stripe = awaitStripe("PC(6x5)");
    StripeStatusProto other = awaitStripe("RS(12,3)");
    FaultInjector faults = new FaultInjector(test.cluster(), new Random(SEED));

    // A flipped byte contradicts the block's checksums: the chunk server's own scrub finds it.
    StripeMemberProto member = stripe.getStripe().getMembers(3);
    int from = member.getOwnerIndex() * BLOCK;
    byte[] right = Arrays.copyOfRange(data, from, from + (int) member.getLengthBytes());
    faults.corruptBlock(member.getBlockId());
    awaitBytes(member.getBlockId(), right);
    assertThat(corruptFound()).isPositive();
    assertThat(counter("repairedBlocks.PC(6x5)")).isPositive();

    // Forged parities fit their own checksums. One of them is found by checksums, one by decoding.
    long wrongBefore = counter("scrub.wrongParities");
    StripeMemberProto row = parity(stripe, PositionKind.ROW_PARITY);
    forgeAndAwait(faults, row.getBlockId());
    assertThat(counter("scrub.wrongParities")).isGreaterThan(wrongBefore);
    wrongBefore = counter("scrub.wrongParities");
    List<StripeMemberProto> parities =
        other.getStripe().getMembersList().stream().filter(m -> m.getPosition() >= 12).toList();
    forgeAndAwait(faults, parities.get(1).getBlockId());
    assertThat(counter("scrub.wrongParities")).isGreaterThan(wrongBefore);

    // Nothing else is wrong: further passes find nothing.
    awaitQuietPasses();
    assertThat(namenode.cluster().getScrub().getSuspectsList()).isEmpty();
    assertThat(counter("scrub.suspectStripes")).isZero();
    long checksums = counter("scrub.checksumBytes");
    assertThat(checksums).isPositive().isLessThan(counter("scrub.coveredBytes") / 100);
    assertThat(client.read("/product/file").get().sha256()).isEqualTo(product);
    assertThat(client.read("/rs/file").get().sha256()).isEqualTo(rs);
    System.out.printf(
        "scrub: %d stripes, %d equations, %d checksum bytes for %d covered, %d data bytes read%n",
        counter("scrub.stripes"),
        counter("scrub.equations"),
        checksums,
        counter("scrub.coveredBytes"),
        counter("scrub.dataBytes"));
  }

  private static StripeMemberProto parity(StripeStatusProto stripe, PositionKind kind) {
    return stripe.getStripe().getMembersList().stream()
        .filter(
            m ->
                Codes.byName(stripe.getStripe().getCode()).position(m.getPosition()).kind() == kind)
        .findFirst()
        .orElseThrow();
  }

  private static void forgeAndAwait(FaultInjector faults, long blockId) throws Exception {
    byte[] right = Files.readAllBytes(replicas(blockId).get(0));
    faults.forgeBlock(blockId);
    assertThat(Files.readAllBytes(replicas(blockId).get(0))).isNotEqualTo(right);
    awaitBytes(blockId, right);
  }

  /** Waits until the block has one replica, with these bytes. */
  private static void awaitBytes(long blockId, byte[] right) throws Exception {
    await(
        "block " + blockId + " whole again",
        () -> {
          List<Path> files = replicas(blockId);
          try {
            return files.size() == 1 && Arrays.equals(Files.readAllBytes(files.get(0)), right)
                ? files
                : null;
          } catch (NoSuchFileException e) {
            return null;
          }
        });
  }

  private static List<Path> replicas(long blockId) throws Exception {
    List<Path> found = new ArrayList<>();
    for (int server = 0; server < SERVERS; server++) {
      for (int disk = 0; disk < DISKS; disk++) {
        Path directory = test.cluster().diskDirectory(server, disk).resolve("finalized");
        LiveFiles.below(directory).stream()
            .filter(path -> isData(path, blockId))
            .forEach(found::add);
      }
    }
    return found;
  }

  private static boolean isData(Path path, long blockId) {
    return path.getFileName().toString().equals("blk_" + blockId);
  }

  /** Waits for a whole stripe of the code, each of whose blocks has one replica. */
  private static StripeStatusProto awaitStripe(String code) throws Exception {
    return await(
        "a stripe of " + code,
        () -> {
          ListStripesResponseProto all =
              namenode
                  .coding()
                  .listStripes(
                      null,
                      ListStripesRequestProto.newBuilder()
                          .setLimit(100)
                          .setWithLocations(true)
                          .build());
          for (StripeStatusProto stripe : all.getStripesList()) {
            if (stripe.getStripe().getCode().equals(code) && isSettled(stripe)) {
              return stripe;
            }
          }
          return null;
        });
  }

  private static boolean isSettled(StripeStatusProto stripe) throws Exception {
    if (stripe.hasTransitionId() || stripe.getLostPositionsCount() > 0) {
      return false;
    }
    for (StoredMemberProto member : stripe.getStoredList()) {
      if (member.getBlock().getLocationsCount() != 1
          || replicas(member.getBlock().getBlock().getBlockId()).size() != 1) {
        return false;
      }
    }
    return true;
  }

  private static void awaitQuietPasses() throws Exception {
    long pass = namenode.cluster().getScrub().getPass() + 2;
    await(
        "two more passes of the scrub without findings",
        () -> {
          var scrub = namenode.cluster().getScrub();
          return scrub.getPass() > pass && scrub.getEndedFindings() == 0 ? scrub : null;
        });
  }

  private static long corruptFound() throws Exception {
    long found = 0;
    for (int server = 0; server < SERVERS; server++) {
      try (ChunkServerClient one = test.cluster().chunkServerClient(server)) {
        found += one.status().getScrubCorruptFound();
      }
    }
    return found;
  }

  private static long counter(String name) throws IOException {
    return namenode.cluster().getCountersList().stream()
        .filter(counter -> counter.getName().equals(name))
        .mapToLong(counter -> counter.getValue())
        .sum();
  }

  private static <T> T await(String what, Callable<T> condition) throws Exception {
    AtomicReference<T> found = new AtomicReference<>();
    ConditionWaiter.within(PATIENCE_MILLIS)
        .until(
            what,
            () -> {
              found.set(condition.call());
              return found.get() == null ? "not yet" : null;
            });
    return found.get();
  }
}
