package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.trash.TrashEmptier;
import io.ebbfs.namenode.files.trash.TrashSettings;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.StandbyException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What becomes of the trash of users as time passes, with a checkpoint every hour for six hours.
 */
class TrashEmptierTest {
  private static final long HOUR = 3_600_000;
  private static final TrashSettings SETTINGS = new TrashSettings(6 * HOUR, HOUR);
  private static final int MANY_TICKS = 200;

  private NamespaceFixture names;
  private TrashEmptier emptier;
  // The calls that the emptier has made.
  private final List<String> calls = new ArrayList<>();
  // Calls that name it fail with the exception.
  private String failing = "none";
  private IOException failure = new IOException("as ordered");

  /** The time is 2023-11-14 22:13:20. */
  @BeforeEach
  void start() throws IOException {
    names = new NamespaceFixture();
    emptier = newEmptier();
    emptier.tick();
  }

  private TrashEmptier newEmptier() {
    TrashEmptier.Calls ordinary =
        new TrashEmptier.Calls() {
          @Override
          public void rename(String from, String to) throws IOException {
            note("rename " + from + " " + to);
            names.renames.rename2(names.root(), from, to, false);
          }

          @Override
          public boolean delete(String path) throws IOException {
            note("delete " + path);
            return names.deletions.delete(names.root(), path, true);
          }
        };
    return new TrashEmptier(
        names.store, names.reads, names.superuser, ordinary, SETTINGS, names.clock, ZoneOffset.UTC);
  }

  private void note(String call) throws IOException {
    calls.add(call);
    if (call.contains(failing)) {
      throw failure;
    }
  }

  /** Lets all passes that are due end. */
  private void tickOften() throws IOException {
    for (int i = 0; i < MANY_TICKS; i++) {
      emptier.tick();
    }
  }

  private void pass(long millis) throws IOException {
    names.clock.advance(millis);
    tickOften();
  }

  /** The names in the trash of a user. */
  private List<String> trash(String user) throws IOException {
    String prefix = "/user/" + user + "/.Trash/";
    return new TreeSet<>(names.tree().keySet())
        .stream()
            .filter(path -> path.startsWith(prefix) && path.length() > prefix.length())
            .map(path -> path.substring(prefix.length()))
            .filter(path -> path.indexOf('/') < 0 || path.indexOf('/') == path.length() - 1)
            .toList();
  }

  @Test
  void whatWasRemovedBecomesACheckpointAndGoesAfterTheInterval() throws Exception {
    names.mkdirs("/user/ann/.Trash/Current/d");
    names.touch("/user/ann/.Trash/Current/d/f");
    tickOften();
    assertThat(trash("ann")).containsExactly("Current/");

    pass(HOUR); // 23:13:20
    assertThat(trash("ann")).containsExactly("231114231320/");
    assertThat(names.tree()).containsKey("/user/ann/.Trash/231114231320/d/f");
    names.mkdirs("/user/ann/.Trash/Current");
    pass(HOUR);
    assertThat(trash("ann")).containsExactly("231114231320/", "231115001320/");

    pass(5 * HOUR); // 05:13:20: the first checkpoint is just as old as the interval
    assertThat(trash("ann")).containsExactly("231114231320/", "231115001320/");
    pass(HOUR);
    assertThat(trash("ann")).containsExactly("231115001320/");
    pass(HOUR);
    assertThat(trash("ann")).isEmpty();
    assertThat(calls)
        .containsExactly(
            "rename /user/ann/.Trash/Current /user/ann/.Trash/231114231320",
            "rename /user/ann/.Trash/Current /user/ann/.Trash/231115001320",
            "delete /user/ann/.Trash/231114231320",
            "delete /user/ann/.Trash/231115001320");
  }

  @Test
  void allElseIsLeftAlone() throws Exception {
    List<String> odd =
        List.of(
            "231114221320-x/",
            "231114221320-12345/",
            "2311142213/",
            "231314221320/",
            "231114221320x/",
            "2311142213201/",
            "Current2/",
            "current/",
            "notes/");
    for (String name : odd) {
      names.mkdirs("/user/ann/.Trash/" + name);
    }
    names.mkdirs("/user/ben");
    names.touch("/user/ben/.Trash");
    names.touch("/user/cid");
    names.mkdirs("/user/dan/Current");
    names.mkdirs("/user/.Trash/Current");
    names.mkdirs("/home/ann/.Trash/Current");
    var before = names.tree().keySet();

    pass(1_000 * HOUR);
    pass(HOUR);
    assertThat(names.tree().keySet()).isEqualTo(before);
    assertThat(calls).isEmpty();
  }

  @Test
  void checkpointsOfOneSecondHaveNumbersAndGoLikeOthers() throws Exception {
    names.mkdirs("/user/ann/.Trash/Current");
    names.mkdirs("/user/ann/.Trash/231114231320");
    names.mkdirs("/user/ann/.Trash/231114231320-1");
    pass(HOUR);
    assertThat(trash("ann")).containsExactly("231114231320-1/", "231114231320-2/", "231114231320/");
    pass(7 * HOUR);
    assertThat(trash("ann")).isEmpty();
  }

  @Test
  void nothingHappensWithoutHomeDirectories() throws Exception {
    pass(HOUR);
    names.touch("/user");
    pass(HOUR);
    assertThat(calls).isEmpty();
  }

  @Test
  void aNamenodeThatWasDownDoesWhatItHasMissedOnce() throws Exception {
    names.mkdirs("/user/ann/.Trash/Current");
    names.clock.advance(30 * HOUR);
    emptier = newEmptier();
    tickOften();
    assertThat(trash("ann")).containsExactly("231116041320/");

    names.mkdirs("/user/ann/.Trash/Current");
    names.clock.advance(HOUR / 2);
    emptier = newEmptier(); // 04:43:20
    tickOften();
    assertThat(trash("ann")).containsExactly("231116041320/", "Current/");
    pass(HOUR / 2);
    assertThat(trash("ann")).containsExactly("231116041320/", "231116051320/");
  }

  @Test
  void anotherLeaderEndsThePassOfALeaderThatIsGone() throws Exception {
    int users = 150;
    for (int i = 0; i < users; i++) {
      names.mkdirs("/user/u%03d/.Trash/Current".formatted(i));
    }
    names.clock.advance(HOUR);
    emptier.tick();
    assertThat(calls).hasSize(100);
    emptier = newEmptier();
    tickOften();
    assertThat(calls).hasSize(users).doesNotHaveDuplicates();
    assertThat(trash("u149")).containsExactly("231114231320/");
  }

  @Test
  void aStepDoesBoundedWork() throws Exception {
    int users = 1_050;
    for (int i = 0; i < users; i++) {
      names.mkdirs("/user/u%04d/.Trash/Current".formatted(i));
      names.mkdirs("/user/u%04d/.Trash/231101000000".formatted(i));
    }
    names.clock.advance(HOUR);
    for (int done = 0; calls.size() < 2 * users; done = calls.size()) {
      emptier.tick();
      assertThat(calls.size()).isBetween(done + 1, done + 101);
    }
    tickOften();
    assertThat(calls).hasSize(2 * users).doesNotHaveDuplicates();
  }

  @Test
  void aTrashWithManyNamesTakesSeveralSteps() throws Exception {
    int odd = 2_500;
    for (int i = 0; i < odd; i++) {
      names.mkdirs("/user/ann/.Trash/0%04d".formatted(i));
    }
    names.mkdirs("/user/ann/.Trash/Current");
    names.mkdirs("/user/ben/.Trash/Current");
    names.clock.advance(HOUR);
    emptier.tick();
    emptier.tick();
    assertThat(calls).isEmpty();
    tickOften();
    assertThat(calls).hasSize(2);
    assertThat(trash("ann")).hasSize(odd + 1).contains("231114231320/");
    assertThat(trash("ben")).containsExactly("231114231320/");
  }

  @Test
  void aFailureHoldsForOneEntry() throws Exception {
    for (String user : List.of("ann", "ben", "cid")) {
      names.mkdirs("/user/" + user + "/.Trash/Current");
      names.mkdirs("/user/" + user + "/.Trash/231101000000");
    }
    failing = "/user/ben/";
    pass(HOUR);
    assertThat(calls).hasSize(6);
    assertThat(trash("ann")).containsExactly("231114231320/");
    assertThat(trash("ben")).containsExactly("231101000000/", "Current/");
    assertThat(trash("cid")).containsExactly("231114231320/");
    failing = "none";
    pass(HOUR);
    assertThat(trash("ben")).containsExactly("231115001320/");
  }

  @Test
  void whatSomebodyHasRenamedMeanwhileIsLeftAlone() throws Exception {
    names.mkdirs("/user/ann/.Trash/Current");
    failing = "rename /user/ann/";
    failure = new FileNotFoundException("somebody was faster");
    names.mkdirs("/user/ben/.Trash/Current");
    pass(HOUR);
    assertThat(trash("ben")).containsExactly("231114231320/");
    assertThat(calls).hasSize(2);
  }

  @Test
  void aNamenodeThatLosesItsLeadershipStopsAtOnce() throws Exception {
    names.mkdirs("/user/ann/.Trash/Current");
    names.mkdirs("/user/ben/.Trash/Current");
    failing = "rename";
    failure = new StandbyException("another one leads");
    names.clock.advance(HOUR);
    assertThatThrownBy(emptier::tick).isInstanceOf(StandbyException.class);
    assertThat(calls).hasSize(1);
    failing = "none";
    tickOften();
    assertThat(trash("ann")).containsExactly("231114231320/");
    assertThat(trash("ben")).containsExactly("231114231320/");
  }

  /** The next multiple of the checkpoint interval may be a week away. */
  @Test
  void aChangeWhoseOutcomeIsNotKnownIsTriedAgainAtOnce() throws Exception {
    names.mkdirs("/user/ann/.Trash/Current");
    names.mkdirs("/user/ben/.Trash/Current");
    failing = "rename";
    for (IOException unclear :
        List.of(new OutcomeUnknownException("no answer", null), new RetriableException("later"))) {
      failure = unclear;
      names.clock.advance(HOUR);
      assertThatThrownBy(emptier::tick).isSameAs(unclear);
    }
    failing = "none";
    tickOften();
    assertThat(trash("ann")).hasSize(1).doesNotContain("Current/");
    assertThat(trash("ben")).hasSize(1).doesNotContain("Current/");
  }

  @Test
  void aClockThatIsSetBackOrForwardBringsOnePass() throws Exception {
    names.mkdirs("/user/ann/.Trash/Current");
    pass(-24 * HOUR);
    assertThat(trash("ann")).containsExactly("231113221320/");
    names.mkdirs("/user/ann/.Trash/Current");
    tickOften();
    assertThat(trash("ann")).containsExactly("231113221320/", "Current/");
    pass(3 * HOUR);
    assertThat(trash("ann")).containsExactly("231113221320/", "231114011320/");
    tickOften();
    assertThat(calls).hasSize(2);
  }

  @Test
  void aCheckpointWithANameInTheFutureStays() throws Exception {
    names.mkdirs("/user/ann/.Trash/231116000000");
    pass(HOUR);
    assertThat(trash("ann")).containsExactly("231116000000/");
    pass(48 * HOUR);
    assertThat(trash("ann")).isEmpty();
  }
}
