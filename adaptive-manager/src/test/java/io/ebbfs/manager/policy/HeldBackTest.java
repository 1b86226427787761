package io.ebbfs.manager.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** While files are being sorted by an edit, what the edit may change is held back. */
class HeldBackTest {
  private static final FileView OF_B = file(2, "/b/f");
  private static final FileView OF_B_BELOW_X = file(3, "/b/x/f");

  private static FileView file(long id, String path) {
    return new FileView(
        id, path, "o", "g", 1, 1, false, 1, 0, 3, 1, 3, List.of(), 0, 3, Pin.NONE, 0);
  }

  private static FileView fileOf(long id) {
    return id == 2 ? OF_B : id == 3 ? OF_B_BELOW_X : null;
  }

  private static Decision encode(String policy, long fileId) {
    return new Decision(
        TransitionKindProto.ENCODE,
        List.of(fileId),
        List.of(),
        "PC(2x5)",
        policy,
        "test",
        1,
        0,
        0,
        false,
        false);
  }

  private static Decision convert(String policy) {
    return new Decision(
        TransitionKindProto.UPCODE,
        List.of(),
        List.of(7L),
        "PC(6x5)",
        policy,
        "test",
        1,
        0,
        0,
        false,
        false);
  }

  private static PolicySet policies(String more) throws Exception {
    return PolicySet.parse(
        Path.of("policies.yaml"),
        "policies:\n  - {name: b, paths: [/b], family: product}\n" + more,
        CodeRegistry.builtIn());
  }

  /** Else the policies that go on would wait for what comes to nothing. */
  @Test
  void anEditedPolicyTakesNoQuota() {
    PolicyWorld world =
        new PolicyWorld(
            PolicyWorld.rule("p", "product", null), PolicyWorld.rule("q", "product", null));
    long held = world.file("/p/f", 30, 0);
    world.file("/q/f", 30, 0);
    world.maxPending = 1;
    assertThat(world.decide().decisions()).extracting(Decision::policy).containsExactly("p");
    Evaluation evaluation = Policy.decide(CodeRegistry.builtIn(), world.snapshot(), Set.of("p"));
    assertThat(evaluation.decisions()).extracting(Decision::policy).containsExactly("q");
    assertThat(world.verdict(evaluation, held).reason()).contains("sorted by an edit");
  }

  @Test
  void theNamesOfEditedPoliciesAreKnown() throws Exception {
    PolicySet inUse = policies("  - {name: a, paths: [/a], family: product}\n");
    PolicySet edited = policies("  - {name: a, paths: [/a], family: lrc}\n");
    assertThat(inUse.namesChangedIn(edited)).containsExactly("a");
    assertThat(inUse.namesChangedIn(policies(""))).containsExactly("a");
    assertThat(inUse.namesChangedIn(inUse)).isEmpty();
  }

  @Test
  void decisionsAboutFilesOfAnotherPolicyAreNotPut() throws Exception {
    PolicySet inUse = policies("  - {name: a, paths: [/a], family: product}\n");
    PolicySet edited =
        policies(
            """
              - {name: a, paths: [/a], family: lrc}
              - {name: x, paths: [/b/x], family: lrc}
            """);
    List<Decision> decisions =
        List.of(encode("b", 2), encode("b", 3), encode("b", 99), convert("b"));
    Evaluation evaluation =
        new Evaluation(1, decisions, new Verdicts(null), List.of(), null, List.of());
    assertThat(evaluation.heldBackBy(inUse, edited, HeldBackTest::fileOf).decisions())
        .containsExactly(encode("b", 2), convert("b"));
    assertThat(evaluation.heldBackBy(inUse, inUse, HeldBackTest::fileOf).decisions())
        .isEqualTo(decisions);
  }
}
