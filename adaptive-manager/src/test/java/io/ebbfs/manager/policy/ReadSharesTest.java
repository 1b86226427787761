package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.manager.heat.ReadShares;
import org.junit.jupiter.api.Test;

class ReadSharesTest {
  private final PolicyWorld world = new PolicyWorld(PolicyWorld.rule("p", "product", 1.5));

  private ReadShares shares() {
    return world.decide().accounts().get(0).reads();
  }

  @Test
  void nothingReadHasNoShares() {
    world.file("/p/x", 1, 0);
    assertThat(shares()).isEqualTo(new ReadShares(0, 0, 0, 0));
  }

  /** 60 blocks are cold and 10 hot; three blocks of a file that is open yet are replicas. */
  @Test
  void anOpenCountsOnceForEachBlockOfTheFile() {
    for (int i = 0; i < 60; i++) {
      world.file("/p/cold" + i, 1, 0.5);
    }
    for (int i = 0; i < 10; i++) {
      world.file("/p/hot" + i, 1, 100);
    }
    world.propose();
    world.completeAll();
    world.propose();
    world.completeAll();
    long open = world.file("/p/open", 3, 10);
    world.namenode.files.get(open).underConstruction = true;

    double all = 10 * 100 + 60 * 0.5 + 3 * 10;
    ReadShares shares = shares();
    assertThat(shares.blockReads()).isCloseTo(all, within(1e-9));
    assertThat(shares.fastShare()).isCloseTo(10 * 100 / all, within(1e-9));
    assertThat(shares.compactShare()).isCloseTo(60 * 0.5 / all, within(1e-9));
    assertThat(shares.replicatedShare()).isCloseTo(3 * 10 / all, within(1e-9));
  }

  /** As the bytes of its account, the reads of a policy with one code are on no fast code. */
  @Test
  void aSingleCodeIsNotFast() {
    PolicyWorld single = new PolicyWorld(PolicyWorld.single("s", "RS(6,3)"));
    for (int i = 0; i < 6; i++) {
      single.file("/s/" + i, 1, 2);
    }
    single.propose();
    single.completeAll();
    assertThat(single.decide().accounts().get(0).reads()).isEqualTo(new ReadShares(12, 0, 1, 0));
  }
}
