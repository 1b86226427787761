package io.ebbfs.namenode.tasks.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.tasks.claim.CombinerChooser.Candidate;
import io.ebbfs.namenode.tasks.claim.CombinerChooser.Choice;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;

class CombinerChooserTest {
  private static final IntSupplier NO_DRAW = () -> 0;

  private static Candidate idle(String server) {
    return new Candidate(server, 0, 0);
  }

  private static Choice choose(
      List<Candidate> inService, List<Set<String>> sources, List<Set<String>> targets) {
    return CombinerChooser.choose(inService, sources, targets, NO_DRAW).orElseThrow();
  }

  private static IntSupplier draws(Integer... numbers) {
    Iterator<Integer> next = List.of(numbers).iterator();
    return next::next;
  }

  @Test
  void theHolderOfMostSourcesCombines() {
    Choice choice =
        choose(
            List.of(idle("target"), idle("one"), idle("two")),
            List.of(Set.of("one"), Set.of("two"), Set.of("two")),
            List.of(Set.of("target")));
    assertThat(choice.serverUuid()).isEqualTo("two");
    assertThat(choice.sourcesHeld()).isEqualTo(2);
    assertThat(choice.sourcesToReceive()).isEqualTo(1);
    assertThat(choice.cost()).isEqualTo(2);
    assertThat(choice.considered()).isEqualTo(3);
  }

  @Test
  void aReplicatedSourceCountsForEachServerThatHoldsIt() {
    Choice choice =
        choose(
            List.of(idle("a"), idle("b")),
            List.of(Set.of("a", "b"), Set.of("b")),
            List.of(Set.of("c")));
    assertThat(choice.serverUuid()).isEqualTo("b");
    assertThat(choice.sourcesHeld()).isEqualTo(2);
  }

  @Test
  void aTargetToSendCountsLikeASourceToReceive() {
    Choice choice =
        choose(
            List.of(idle("source"), idle("target")),
            List.of(Set.of("source")),
            List.of(Set.of("target"), Set.of("target")));
    assertThat(choice.serverUuid()).isEqualTo("target");
    assertThat(choice.targetsHeld()).isEqualTo(2);
    assertThat(choice.cost()).isEqualTo(1);
  }

  @Test
  void blocksOfEarlierStepsOutweighSourcesHeld() {
    List<Set<String>> sources = List.of(Set.of("loaded"), Set.of("loaded"), Set.of("free"));
    assertThat(choose(List.of(new Candidate("loaded", 1, 0), idle("free")), sources, List.of()))
        .as("one block to receive from before, one more source held: a tie, the first wins")
        .extracting(Choice::serverUuid)
        .isEqualTo("loaded");
    assertThat(choose(List.of(new Candidate("loaded", 2, 0), idle("free")), sources, List.of()))
        .extracting(Choice::serverUuid)
        .isEqualTo("free");
  }

  @Test
  void tenTransfersWeighAsMuchAsOneBlock() {
    List<Set<String>> sources = List.of(Set.of("busy"), Set.of("busy"), Set.of("free"));
    assertThat(choose(List.of(idle("free"), new Candidate("busy", 0, 9)), sources, List.of()))
        .extracting(Choice::serverUuid)
        .isEqualTo("busy");
    assertThat(choose(List.of(idle("free"), new Candidate("busy", 0, 11)), sources, List.of()))
        .extracting(Choice::serverUuid)
        .isEqualTo("free");
  }

  @Test
  void ofEqualServersTheLowestDrawWinsThenTheFirst() {
    List<Candidate> equal = List.of(idle("a"), idle("b"), idle("c"));
    List<Set<String>> sources = List.of(Set.of("a"), Set.of("b"), Set.of("c"));
    assertThat(CombinerChooser.choose(equal, sources, List.of(), draws(70, 3, 50)))
        .map(Choice::serverUuid)
        .contains("b");
    assertThat(CombinerChooser.choose(equal, sources, List.of(), draws(7, 7, 7)))
        .map(Choice::serverUuid)
        .contains("a");
  }

  @Test
  void noDrawOutweighsABlock() {
    assertThat(
            CombinerChooser.choose(
                List.of(idle("one"), idle("two")),
                List.of(Set.of("one"), Set.of("two"), Set.of("two")),
                List.of(),
                draws(0, CombinerChooser.MAX_DRAW)))
        .map(Choice::serverUuid)
        .contains("two");
  }

  @Test
  void serversOutOfServiceAndServersWithoutABlockAreNeverChosen() {
    List<Integer> drawn = new ArrayList<>();
    assertThat(
            CombinerChooser.choose(
                List.of(idle("stranger"), new Candidate("holder", 50, 500)),
                List.of(Set.of("gone"), Set.of("gone"), Set.of("holder")),
                List.of(Set.of("gone")),
                () -> {
                  drawn.add(0);
                  return 0;
                }))
        .map(Choice::serverUuid)
        .contains("holder");
    assertThat(drawn).as("one draw for each server considered").hasSize(1);
    assertThat(
            CombinerChooser.choose(
                List.of(idle("stranger")), List.of(Set.of("gone")), List.of(), NO_DRAW))
        .isEmpty();
    assertThat(CombinerChooser.choose(List.of(), List.of(Set.of("a")), List.of(), NO_DRAW))
        .isEmpty();
  }

  @Test
  void theReasonNamesServerLoadAndBlocksHeld() {
    Choice choice =
        choose(
            List.of(new Candidate("s1", 3, 20), new Candidate("s2", 9, 0)),
            List.of(Set.of("s1"), Set.of("s1"), Set.of("s2")),
            List.of(Set.of("s2")));
    assertThat(choice.reason())
        .isEqualTo(
            "server s1 holds 2 of 3 sources and 0 of 1 targets, has 3 blocks of earlier steps to"
                + " receive and 20 transfers under way: the lowest cost (7.000 blocks) of 2"
                + " servers that hold a source or a target");
  }
}
