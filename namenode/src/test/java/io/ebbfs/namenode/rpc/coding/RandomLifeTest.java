package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random orders of everything that happens to stripes: files come and go, transitions are claimed,
 * run, committed late, twice or never, servers die and return, disks fail, the namenode restarts.
 * After every step the metadata is consistent and every file can be read.
 */
class RandomLifeTest {
  private static final int STEPS = 150;
  private static final List<String> CODES =
      List.of(
          Codes.PC_FAST,
          Codes.PC_COMPACT,
          Codes.LRC_FAST,
          Codes.LRC_COMPACT,
          Codes.RS_FAST,
          Codes.RS_COMPACT);

  private CodingCluster cluster;
  private Random random;
  private String deadServer;
  private final List<ClaimedTransitionProto> held = new ArrayList<>();
  private final Map<ClaimedTransitionProto, List<CombineResponseProto>> results = new HashMap<>();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void survives(long seed) throws Exception {
    random = new Random(seed);
    cluster = new CodingCluster(14, 6, seed);
    String last = "start";
    for (int step = 0; step < STEPS; step++) {
      try {
        last = step();
        cluster.assertConsistent();
        cluster.assertAllReadable();
        cluster.assertSpaceAccounted();
      } catch (Exception | AssertionError e) {
        throw new AssertionError(
            "seed %d, step %d (%s): %s".formatted(seed, step, last, e.getMessage()), e);
      }
    }
    calmDown();
  }

  private void calmDown() throws Exception {
    if (deadServer != null) {
      cluster.servers.revive(deadServer);
    }
    cluster.advance(CodingCluster.LEASE_MILLIS * 100);
    cluster.blocks.reportAll();
    cluster.runAll();
    cluster.assertConsistent();
    cluster.assertAllReadable();
    cluster.assertNoOrphans();
    cluster.assertSpaceExact();
    assertThat(cluster.active()).isEmpty();
    assertThat(cluster.stripeList()).allMatch(s -> s.getLostPositionsCount() == 0);
    for (long file : cluster.fileIds()) {
      cluster.deleteFile(file);
    }
    cluster.assertNoOrphans();
    assertThat(cluster.stripeIds()).isEmpty();
    assertThat(cluster.servers.disks())
        .allMatch(disk -> !cluster.servers.isLive(disk) || cluster.servers.on(disk).isEmpty());
  }

  private String step() throws Exception {
    int dice = random.nextInt(100);
    cluster.advance(random.nextInt(2_000));
    if (dice < 15) {
      cluster.createFile(1 + random.nextInt(9), 40, false);
      return "create";
    } else if (dice < 20 && !cluster.fileIds().isEmpty()) {
      cluster.deleteFile(any(cluster.fileIds()));
      return "delete";
    } else if (dice < 30) {
      cluster.propose(TransitionKindProto.ENCODE, any(CODES), some(cluster.fileIds()), List.of());
      return "propose encode";
    } else if (dice < 40) {
      TransitionKindProto kind =
          random.nextBoolean() ? TransitionKindProto.UPCODE : TransitionKindProto.DOWNCODE;
      if (random.nextInt(3) == 0) {
        return freeDead();
      }
      if (random.nextInt(4) == 0) {
        return release();
      }
      cluster.propose(kind, any(CODES), List.of(), some(cluster.stripeIds()));
      return "propose " + kind;
    } else if (dice < 55) {
      held.addAll(cluster.claim(1 + random.nextInt(3)));
      return "claim";
    } else if (dice < 80) {
      return work();
    } else if (dice < 86) {
      return fault();
    } else if (dice < 88) {
      cluster.restart();
      return "restart";
    } else if (dice < 92) {
      cluster.blocks.reportAll();
      cluster.blocks.copyUnderReplicated();
      return "reports";
    }
    cluster.coding.tick();
    return "tick";
  }

  private String freeDead() throws Exception {
    TransitionKindProto kind =
        random.nextBoolean() ? TransitionKindProto.SUBTRACT : TransitionKindProto.REWRITE;
    List<StripeStatusProto> all = cluster.stripeList();
    if (!all.isEmpty()) {
      String code = any(all).getStripe().getCode();
      List<Long> stripes =
          all.stream()
              .filter(stripe -> stripe.getStripe().getCode().equals(code))
              .map(stripe -> stripe.getStripe().getId())
              .limit(16)
              .toList();
      cluster.propose(kind, code, List.of(), stripes);
    }
    return "propose " + kind;
  }

  private String release() throws Exception {
    List<StripeStatusProto> all = cluster.stripeList();
    if (!all.isEmpty()) {
      StripeStatusProto stripe = any(all);
      cluster.propose(
          TransitionKindProto.RELEASE,
          stripe.getStripe().getCode(),
          random.nextBoolean() ? cluster.fileIds() : some(cluster.fileIds()),
          List.of(stripe.getStripe().getId()));
    }
    return "propose release";
  }

  private String work() throws Exception {
    if (held.isEmpty()) {
      return "idle";
    }
    ClaimedTransitionProto claimed = any(held);
    String what = claimed.getTransition().getKind() + " " + claimed.getTransition().getId();
    switch (random.nextInt(8)) {
      case 0 -> {
        held.remove(claimed);
        return "forget " + what;
      }
      case 1 -> {
        cluster.fail(claimed, "random failure");
        return "fail " + what;
      }
      case 2, 3, 4 -> {
        results.put(claimed, cluster.run(claimed));
        return "run " + what;
      }
      default -> {
        if (!results.containsKey(claimed)) {
          results.put(claimed, cluster.run(claimed));
        }
        return "commit " + what + ": " + cluster.commit(claimed, results.get(claimed));
      }
    }
  }

  /** One fault at a time: the next one comes when everything is whole again. */
  private String fault() throws Exception {
    if (deadServer != null) {
      String back = deadServer;
      deadServer = null;
      cluster.servers.revive(back);
      return "revive " + back;
    }
    if (!isWhole()) {
      return "no fault";
    }
    if (random.nextInt(4) == 0) {
      String disk = any(cluster.servers.disks());
      cluster.servers.failDisk(disk);
      return "fail " + disk;
    }
    deadServer = any(cluster.servers.servers());
    cluster.servers.kill(deadServer);
    return "kill " + deadServer;
  }

  private boolean isWhole() throws Exception {
    return cluster.stripeList().stream().allMatch(s -> s.getLostPositionsCount() == 0)
        && cluster.blocks.underReplicated() == 0;
  }

  private <T> T any(List<T> items) {
    return items.get(random.nextInt(items.size()));
  }

  private <T> List<T> some(List<T> items) {
    return items.stream().filter(item -> random.nextInt(3) > 0).toList();
  }
}
