package io.ebbfs.namenode.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.leader.Leadership.Changes;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.ipc.StandbyException;
import org.junit.jupiter.api.Test;

class LeadershipTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());
  private static final LeaderTimes TIMES = LeaderTimes.of(1_000);

  private final InMemoryStore store = new InMemoryStore();
  private long nanos;

  private void pass(long millis) {
    nanos += millis * 1_000_000;
  }

  private Leadership process(String name) {
    return new Leadership(store, name, name + ":8020", TIMES, () -> nanos);
  }

  /** The same store, of which each transaction fails as long as the flag is set. */
  private MetadataStore failing(AtomicBoolean fails) {
    return (MetadataStore)
        Proxy.newProxyInstance(
            MetadataStore.class.getClassLoader(),
            new Class<?>[] {MetadataStore.class},
            (proxy, method, arguments) -> {
              if (fails.get()) {
                throw new IOException("the store does not answer");
              }
              return method.isDefault()
                  ? InvocationHandler.invokeDefault(proxy, method, arguments)
                  : method.invoke(store, arguments);
            });
  }

  @Test
  void aLeaderWhoseProcessHasEndedIsNotWaitedFor() throws Exception {
    Leadership a = process("a");
    Leadership b = process("b");
    a.tick();
    b.tick();
    assertThat(b.otherLeader()).contains(new Leadership.Leader("a:8020", 1));
    assertThat(a.otherLeader()).isEmpty();
    assertThat(b.hasLeaderEnded()).isFalse();
    b.noteEnd(new Leadership.Leader("a:8020", 1));
    b.tick();
    assertThat(b.holds()).as("its row has not stood still yet").isFalse();
    assertThat(b.hasLeaderEnded()).isTrue();
    nanos += TIMES.endedNanos();
    b.tick();
    assertThat(b.holds()).isTrue();
    assertThat(b.term()).isEqualTo(2);
    assertThat(b.hasLeaderEnded()).isFalse();
    // Should the process live, its next renewal tells it that another one leads.
    a.tick();
    assertThat(a.holds()).isFalse();
    a.noteEnd(new Leadership.Leader("a:8020", 1));
    a.tick();
    assertThat(a.holds()).as("the end of an old term ends no later one").isFalse();
    assertThat(b.holds()).isTrue();
  }

  @Test
  void aLeaderThatCannotLeadLetsAnotherOneLeadAtOnce() throws Exception {
    Leadership a = process("a");
    Leadership b = process("b");
    a.tick();
    a.standAside();
    a.tick();
    assertThat(a.holds()).isFalse();
    a.tick();
    assertThat(a.holds()).as("while it stands aside").isFalse();
    b.tick();
    assertThat(b.holds()).isTrue();
    a.tick();
    assertThat(a.otherLeader()).contains(new Leadership.Leader("b:8020", b.term()));
    b.resign();
    nanos += 10 * TIMES.timeoutNanos();
    a.tick();
    assertThat(a.holds()).as("later it tries again").isTrue();
  }

  @Test
  void aLeaderThatStandsAsideTriesAgainIfNobodyElseLeads() throws Exception {
    Leadership alone = process("alone");
    alone.tick();
    alone.standAside();
    alone.tick();
    alone.tick();
    assertThat(alone.holds()).isFalse();
    nanos += 2 * TIMES.timeoutNanos();
    alone.tick();
    assertThat(alone.holds()).isTrue();
  }

  @Test
  void theFirstThatAsksLeads() throws IOException {
    Leadership a = process("a");
    Leadership b = process("b");
    assertThat(a.holds()).isFalse();
    a.tick();
    b.tick();
    assertThat(a.holds()).isTrue();
    assertThat(b.holds()).isFalse();
    assertThat(b.leader()).contains("a:8020");
  }

  @Test
  void aProcessThatReadsTheRowSlowlyDoesNotTakeItForOld() throws IOException {
    Leadership a = process("a");
    long[] readMillis = {0};
    MetadataStore slow =
        (MetadataStore)
            Proxy.newProxyInstance(
                MetadataStore.class.getClassLoader(),
                new Class<?>[] {MetadataStore.class},
                (proxy, method, arguments) -> {
                  if (method.isDefault()) {
                    return InvocationHandler.invokeDefault(proxy, method, arguments);
                  }
                  for (long left = readMillis[0]; left > 0; left -= 100) {
                    pass(100);
                    a.tick();
                  }
                  return method.invoke(store, arguments);
                });
    Leadership b = new Leadership(slow, "b", "b:8020", TIMES, () -> nanos);
    a.tick();
    b.tick();
    readMillis[0] = 2_000;
    b.tick();
    readMillis[0] = 0;
    b.tick();
    assertThat(b.holds()).as("the leader has just renewed its leadership").isFalse();
    assertThat(a.holds()).isTrue();
  }

  @Test
  void aLeaderThatRenewsKeepsItsTerm() throws IOException {
    Leadership a = process("a");
    Leadership b = process("b");
    for (int i = 0; i < 50; i++) {
      a.tick();
      b.tick();
      pass(100);
      assertThat(a.holds()).isTrue();
      assertThat(b.holds()).isFalse();
    }
    assertThat(a.term()).isEqualTo(1);
  }

  @Test
  void aSilentLeaderIsReplacedAfterTheTimeOutAndNotBefore() throws IOException {
    Leadership a = process("a");
    Leadership b = process("b");
    a.tick();
    b.tick();
    pass(999);
    b.tick();
    assertThat(b.holds()).isFalse();
    pass(1);
    b.tick();
    assertThat(b.holds()).isTrue();
    assertThat(b.term()).isEqualTo(2);
  }

  @Test
  void aFrozenLeaderThatWakesUpDoesNotLead() throws IOException {
    Leadership a = process("a");
    Leadership b = process("b");
    a.tick();
    b.tick();
    pass(1_000);
    assertThat(a.holds()).isFalse();
    b.tick();
    a.tick();
    assertThat(a.holds()).isFalse();
    assertThat(b.holds()).isTrue();
  }

  @Test
  void aLeaderThatResignsIsReplacedAtOnce() throws IOException {
    Leadership a = process("a");
    Leadership b = process("b");
    a.tick();
    b.tick();
    a.resign();
    assertThat(a.holds()).isFalse();
    b.tick();
    assertThat(b.holds()).isTrue();
    assertThat(b.term()).isEqualTo(2);
  }

  @Test
  void aLeaderWhoseStoreFailsStopsInTime() throws IOException {
    AtomicBoolean fails = new AtomicBoolean();
    Leadership a = new Leadership(failing(fails), "a", "a:8020", TIMES, () -> nanos);
    a.tick();
    fails.set(true);
    pass(799);
    assertThat(a.holds()).isTrue();
    pass(1);
    assertThatThrownBy(a::tick).isInstanceOf(IOException.class);
    assertThat(a.holds()).isFalse();
  }

  @Test
  void allKnowWhetherFilesMayBeChanged() throws IOException {
    Leadership a = process("a");
    Leadership b = process("b");
    assertThat(b.changes()).isEqualTo(Changes.UNKNOWN);
    a.tick();
    b.tick();
    assertThat(b.changes()).isEqualTo(Changes.ALLOWED);
    assertThatThrownBy(() -> b.setReadOnly(true)).isInstanceOf(StandbyException.class);
    a.setReadOnly(true);
    b.tick();
    assertThat(b.changes()).isEqualTo(Changes.REFUSED);
    pass(100);
    a.tick();
    assertThat(a.changes()).as("a renewal keeps the mark").isEqualTo(Changes.REFUSED);
    a.resign();
    b.tick();
    assertThat(b.holds()).isTrue();
    assertThat(b.changes()).as("the next leader keeps the mark").isEqualTo(Changes.REFUSED);
    a.tick();
    b.setReadOnly(false);
    pass(1_000);
    assertThat(a.changes()).as("a has read the row a second ago").isEqualTo(Changes.REFUSED);
    pass(1);
    assertThat(a.changes()).isEqualTo(Changes.UNKNOWN);
    assertThat(a.isReadOnly()).as("what a has read last").isTrue();
    a.tick();
    assertThat(a.changes()).isEqualTo(Changes.ALLOWED);
  }

  /** Processes that are frozen at random: never two lead, and each term has one leader. */
  @Test
  void neverTwoLead() throws IOException {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    List<Leadership> processes = new ArrayList<>();
    long[] frozenUntil = new long[4];
    for (int i = 0; i < frozenUntil.length; i++) {
      processes.add(process("p" + i));
    }
    long lastTerm = 0;
    int last = -1;
    for (int step = 0; step < 20_000; step++) {
      pass(random.nextInt(60));
      int who = random.nextInt(processes.size());
      if (nanos >= frozenUntil[who]) {
        processes.get(who).tick();
        if (random.nextInt(60) == 0) {
          frozenUntil[who] = nanos + random.nextInt(3_000) * 1_000_000L;
        }
      }
      for (int i = 0; i < processes.size(); i++) {
        if (processes.get(i).holds() && i != last) {
          assertThat(processes.get(i).term()).as("seed " + SEED).isGreaterThan(lastTerm);
          lastTerm = processes.get(i).term();
          last = i;
        }
      }
      assertThat(processes.stream().filter(Leadership::holds).count())
          .as("leaders, seed " + SEED)
          .isLessThan(2);
    }
    assertThat(lastTerm).isGreaterThan(20);
  }
}
