package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.FileState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The policy that a local cluster starts with: a newcomer sees its effect within two minutes. */
class LocalPolicyTest {
  private static final long EVALUATE_EVERY_MILLIS = 3_000;
  private static final long TWO_MINUTES = 120_000;

  private final PolicyWorld world = new PolicyWorld();
  private long startMillis;

  @BeforeEach
  void load() throws Exception {
    world.policies = PolicySet.load(Path.of("..", "conf", "local"), CodeRegistry.builtIn());
    startMillis = world.now;
  }

  private long store(String path) {
    return world.namenode.addFile(path, world.now, PolicyWorld.MIB).id;
  }

  private void liveUntil(long endMillis) {
    for (; world.now < endMillis; world.now += EVALUATE_EVERY_MILLIS) {
      world.propose();
      world.completeAll();
    }
  }

  @Test
  void twoFilesAreEncoded() {
    long one = store("/foo");
    long other = store("/bar");
    assertThat(world.state(one)).isEqualTo(FileState.TOO_NEW);
    liveUntil(startMillis + TWO_MINUTES / 2);
    assertThat(world.state(one)).isEqualTo(FileState.COMPACT);
    assertThat(world.state(other)).isEqualTo(FileState.COMPACT);
  }

  @Test
  void filesThatAreReadGoFastAndCompactAgainOnceTheyAreCold() {
    List<Long> read = new ArrayList<>();
    List<Long> unread = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      read.add(store("/read/" + i));
      unread.add(store("/unread/" + i));
    }
    read.forEach(id -> world.heat.put(id, 4.0));
    liveUntil(startMillis + TWO_MINUTES);
    assertThat(read).allMatch(id -> world.state(id) == FileState.FAST);
    assertThat(unread).allMatch(id -> world.state(id) == FileState.COMPACT);
    assertThat(world.overhead("everything")).isLessThanOrEqualTo(1.5);

    read.forEach(id -> world.heat.put(id, 0.9));
    liveUntil(startMillis + 2 * TWO_MINUTES);
    assertThat(read).allMatch(id -> world.state(id) == FileState.COMPACT);
  }
}
