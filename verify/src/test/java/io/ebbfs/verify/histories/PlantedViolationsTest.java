package io.ebbfs.verify.histories;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.verify.histories.Call.Verb;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rounds of six clients on a namespace in memory, which is correct, or which has one planted bug
 * that shows once in a while. The checker finds each bug, and finds nothing where there is none.
 */
class PlantedViolationsTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());
  private static final int CLIENTS = 6;
  private static final int CALLS = 30;
  private static final int MOST_ROUNDS = 200;

  private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);

  enum Bug {
    NONE,
    /** A call whose answer was lost runs again when the client repeats it. */
    RUNS_REPETITION,
    /** A read is answered from a copy that misses the last change. */
    READS_STALE_COPY,
    /** A change is acknowledged and lost. */
    LOSES_CHANGE,
    /** A rename is done in two steps that others can see. */
    RENAMES_IN_STEPS,
    /** An id is given out twice. */
    REPEATS_ID
  }

  /** A namespace that answers after a while, and sometimes not at all. */
  private static final class Namespace {
    private final Bug bug;
    private final Random random;
    private Tree tree = Tree.EMPTY;
    private Tree before = Tree.EMPTY;
    private long nextId = 1;

    Namespace(Bug bug, Random random) {
      this.bug = bug;
      this.random = random;
    }

    private synchronized boolean oneOf(int count) {
      return random.nextInt(count) == 0;
    }

    Answer run(Call call) throws IOException, InterruptedException {
      Thread.sleep(oneOf(3) ? 1 : 0);
      if (bug == Bug.RENAMES_IN_STEPS && call.verb() == Verb.RENAME) {
        return renameInSteps(call);
      }
      Answer answer = apply(call);
      if (bug == Bug.RUNS_REPETITION && oneOf(20)) {
        answer = apply(call);
      }
      Thread.sleep(oneOf(3) ? 1 : 0);
      if (oneOf(60)) {
        throw new IOException("the answer is lost");
      }
      return answer;
    }

    private synchronized Answer apply(Call call) {
      boolean reads =
          call.verb() == Verb.STAT || call.verb() == Verb.LIST || call.verb() == Verb.OPEN;
      Tree from = bug == Bug.READS_STALE_COPY && reads && oneOf(5) ? before : tree;
      Tree.Step step = from.run(call, call.verb() == Verb.CREATE ? Answer.made(nextId()) : null);
      boolean lost = bug == Bug.LOSES_CHANGE && oneOf(20);
      if (!reads && !lost) {
        before = tree;
        tree = step.after();
      }
      return step.answer();
    }

    private long nextId() {
      return bug == Bug.REPEATS_ID && nextId > 1 && oneOf(10) ? nextId - 1 : nextId++;
    }

    private Answer renameInSteps(Call call) throws InterruptedException {
      Tree.Step whole;
      synchronized (this) {
        whole = tree.run(call, null);
        if (whole.answer().kind() == Answer.Kind.REFUSED) {
          return whole.answer();
        }
        Tree without = tree.run(Call.of(Verb.DELETE, call.path()), null).after();
        if (without.equals(tree)) {
          tree = whole.after();
          return whole.answer();
        }
        tree = without;
      }
      Thread.sleep(2);
      synchronized (this) {
        tree = whole.after();
      }
      return whole.answer();
    }
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private boolean isLinearizable(Bug bug, long seed) throws IOException, InterruptedException {
    Random random = new Random(seed);
    Namespace namespace = new Namespace(bug, random);
    List<NamespaceClient> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add((directory, call) -> namespace.run(call));
    }
    List<Event> events = new Round("/", clients, CALLS, 2, failure -> {}).run(random, threads);
    return LinearizabilityChecker.check(events).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void aPlantedBugIsFound(Bug bug) throws Exception {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    int rounds = 1;
    while (rounds < MOST_ROUNDS && isLinearizable(bug, random.nextLong())) {
      rounds++;
    }
    assertThat(rounds).as("rounds until %s shows, seed %d", bug, SEED).isLessThan(MOST_ROUNDS);
  }

  @Test
  void nothingIsFoundWhereThereIsNoBug() throws Exception {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    for (int i = 0; i < 40; i++) {
      assertThat(isLinearizable(Bug.NONE, random.nextLong())).as("seed " + SEED).isTrue();
    }
  }
}
