package io.ebbfs.verify.histories;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.verify.histories.Call.Verb;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Histories of a few calls, of which a reader can tell whether they are linearizable. */
class LinearizabilityCheckerTest {
  private final List<Event> events = new ArrayList<>();

  private void event(long began, long ended, Call call, Answer answer) {
    events.add(new Event(0, call, answer, began, ended));
  }

  private static Call call(Verb verb, String path) {
    return Call.of(verb, path);
  }

  private static Call rename(String from, String to) {
    return new Call(Verb.RENAME, from, to);
  }

  private static Answer file(long id, long length) {
    return Answer.saw(Map.of("", new Node(false, id, length)));
  }

  private void assertLinearizable(boolean expected) {
    assertThat(LinearizabilityChecker.check(events).isEmpty()).isEqualTo(expected);
  }

  @Test
  void aReadSeesWhatEndedBeforeIt() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.STAT, "a"), file(7, 0));
    assertLinearizable(true);
  }

  @Test
  void aStaleReadIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.STAT, "a"), Answer.REFUSED);
    assertLinearizable(false);
  }

  @Test
  void callsThatOverlapMayTakeEffectInEitherOrder() {
    event(1, 5, call(Verb.CREATE, "a"), Answer.made(7));
    event(2, 3, call(Verb.STAT, "a"), Answer.REFUSED);
    event(4, 6, call(Verb.STAT, "a"), file(7, 0));
    assertLinearizable(true);
  }

  @Test
  void twoReadersMustAgreeOnTheOrder() {
    event(1, 9, call(Verb.CREATE, "a"), Answer.made(7));
    event(2, 3, call(Verb.STAT, "a"), file(7, 0));
    event(4, 5, call(Verb.STAT, "a"), Answer.REFUSED);
    assertLinearizable(false);
  }

  @Test
  void aRenameThatRanTwiceIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    // The first run moved the file, the repetition did not find it any more.
    event(3, 4, rename("a", "b"), Answer.REFUSED);
    event(5, 6, call(Verb.STAT, "b"), file(7, 0));
    assertLinearizable(false);
  }

  @Test
  void aRenameThatIsSeenInHalfIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 6, rename("a", "b"), Answer.DONE);
    event(4, 5, call(Verb.LIST, ""), Answer.saw(Map.of()));
    assertLinearizable(false);
  }

  @Test
  void anAcknowledgedFileThatIsLostIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.LIST, ""), Answer.saw(Map.of()));
    assertLinearizable(false);
  }

  @Test
  void aDeletedFileThatComesBackIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.DELETE, "a"), Answer.DONE);
    event(5, 6, call(Verb.STAT, "a"), file(7, 0));
    assertLinearizable(false);
  }

  @Test
  void anotherFileUnderTheSameNameIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.STAT, "a"), file(8, 0));
    assertLinearizable(false);
  }

  @Test
  void anIdThatIsGivenOutTwiceIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.DELETE, "a"), Answer.DONE);
    event(5, 6, call(Verb.CREATE, "a"), Answer.made(7));
    assertLinearizable(false);
  }

  @Test
  void aLostAppendIsFound() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.OPEN, "a"), file(7, 0));
    event(5, 6, new Call(Verb.CLOSE, "a", "7"), Answer.DONE);
    event(7, 8, call(Verb.STAT, "a"), file(7, 0));
    assertLinearizable(false);
  }

  @Test
  void anAppendFollowsTheFileThatIsRenamedMeanwhile() {
    event(1, 2, call(Verb.CREATE, "a"), Answer.made(7));
    event(3, 4, call(Verb.OPEN, "a"), file(7, 0));
    event(5, 6, rename("a", "b"), Answer.DONE);
    event(7, 8, new Call(Verb.CLOSE, "a", "7"), Answer.DONE);
    event(9, 10, call(Verb.STAT, "b"), file(7, 1));
    assertLinearizable(true);
  }

  @Test
  void aDirectoryThatIsDeletedWithAnEntryIsFound() {
    event(1, 2, call(Verb.MKDIRS, "d"), Answer.DONE);
    event(3, 4, call(Verb.CREATE, "d/a"), Answer.made(7));
    event(5, 6, call(Verb.DELETE, "d"), Answer.DONE);
    assertLinearizable(false);
  }

  @Test
  void aCallWithoutAnswerMayHaveHappenedLateOrNever() {
    events.add(Event.unknown(0, call(Verb.CREATE, "a"), 1));
    event(3, 4, call(Verb.STAT, "a"), Answer.REFUSED);
    assertLinearizable(true);
    event(5, 6, call(Verb.STAT, "a"), file(7, 0));
    assertLinearizable(true);
    event(7, 8, call(Verb.STAT, "a"), Answer.REFUSED);
    assertLinearizable(false);
  }

  @Test
  void aBusyFileSaysNothingAboutTheTree() {
    event(1, 2, call(Verb.OPEN, "a"), Answer.BUSY);
    assertLinearizable(true);
  }
}
