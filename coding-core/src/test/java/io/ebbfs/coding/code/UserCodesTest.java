package io.ebbfs.coding.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.PlannerTest;
import io.ebbfs.coding.plan.ReadCost;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UserCodesTest {
  private static List<byte[]> rows(int[]... rows) {
    List<byte[]> bytes = new ArrayList<>();
    for (int[] row : rows) {
      byte[] converted = new byte[row.length];
      for (int i = 0; i < row.length; i++) {
        converted[i] = (byte) row[i];
      }
      bytes.add(converted);
    }
    return bytes;
  }

  @Test
  void aCodeOfRowsIsProvenAndRepairs() {
    ErasureCode code = Codes.ofRows("mine", 2, rows(new int[] {1, 1, 1}, new int[] {1, 2, 4}));
    assertThat(code.size()).isEqualTo(5);
    assertThat(code.fingerprint()).isEqualTo(Codes.byName("RS(3,2)").fingerprint());
    CombinePlan plan =
        Planner.readPlan(code, PlannerTest.range(0, 5), Set.of(0, 3), 0, ReadCost.UNIFORM);
    assertThat(plan.inputPositions()).containsExactly(1, 2, 4);
  }

  @Test
  void aCodeThatDoesNotSurviveItsClaimIsRefusedWithTheLosses() {
    assertThatThrownBy(
            () -> Codes.ofRows("weak", 2, rows(new int[] {1, 1, 1}, new int[] {1, 2, 2})))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("weak")
        .hasMessageContaining("the loss of D1, D2 does not decode");
    assertThatThrownBy(() -> Codes.ofRows("weak", 1, rows(new int[] {1, 0, 1})))
        .hasMessageContaining("the loss of D1 does not decode");
    assertThatThrownBy(() -> Codes.named("strong-grid", 4, "PC(2x5)"))
        .hasMessageContaining("the loss of D0.0, D0.1, D1.0, D1.1 does not decode")
        .hasMessageContaining("PC(2x5) has 3");
    assertThat(Codes.named("modest", 2, "PC(2x5)").tolerance()).isEqualTo(2);
  }

  @Test
  void badDefinitionsAreRefused() {
    assertThatThrownBy(() -> Codes.ofRows("RS(9,1)", 1, rows(new int[] {1})))
        .hasMessageContaining("describes a code already");
    assertThatThrownBy(() -> Codes.ofRows("a b", 1, rows(new int[] {1})))
        .hasMessageContaining("write a letter");
    assertThatThrownBy(() -> Codes.ofRows("uneven", 1, rows(new int[] {1, 1}, new int[] {1, 1, 1})))
        .hasMessageContaining("parity row 1 has 3 coefficients, the first has 2");
    assertThatThrownBy(() -> Codes.ofRows("zero", 1, rows(new int[] {0, 0})))
        .hasMessageContaining("parity row 0 is all zero");
    assertThatThrownBy(() -> Codes.ofRows("bold", 2, rows(new int[] {1, 1})))
        .hasMessageContaining("must be 1 to 1");
    assertThatThrownBy(() -> Codes.ofRows("huge", 4, List.of(new byte[250], new byte[250])))
        .hasMessageContaining("all zero");
    assertThatThrownBy(() -> Codes.byName("LRC(127,1,4)")).hasMessageContaining("LRC(127,1,4)");
  }

  @Test
  void definedCodesAndPairsAreKnownAndNeverChange() {
    ErasureCode fast = Codes.named("test-fast", 3, "RS(4,3)");
    ErasureCode compact = Codes.named("test-compact", 3, "RS(8,3)");
    CodeFamily pair = new CodeFamily("test-pair", fast, compact);
    CodeRegistry codes = CodeRegistry.of(List.of(fast, compact), List.of(pair));
    assertThat(codes.byName("test-fast")).isSameAs(fast);
    assertThat(codes.byName("RS(9,3)")).isSameAs(Codes.byName("RS(9,3)"));
    assertThat(codes.userDefined()).containsExactly(fast, compact);
    assertThat(codes.known()).containsAll(Codes.builtIn()).contains(fast, compact);
    assertThat(codes.family("test-pair")).isEqualTo(pair);
    assertThat(codes.familyOf("test-compact")).contains(pair);
    assertThat(codes.mergesInto(fast)).contains(compact);
    assertThat(codes.mergesInto(compact)).isEmpty();
    assertThat(codes.stripesPerGroup(fast)).isEqualTo(2);
    assertThat(codes.stripesPerGroup(compact)).isEqualTo(1);
    assertThat(
            Planner.upcode(fast, compact, List.of(Set.of(0, 1, 2, 3), Set.of(0)), Set.of()).reads())
        .isEqualTo(4);
    assertThatThrownBy(
            () ->
                CodeRegistry.of(
                    List.of(fast, compact, Codes.named("test-fast", 3, "RS(5,3)")), List.of()))
        .hasMessageContaining("defined twice, with different coefficients");
    refused(pair, of("test-pair", "RS(4,2)", "RS(8,2)"), "take another name");
    refused(pair, new CodeFamily("second", fast, Codes.byName("RS(12,3)")), "in pair rs already");
    refused(pair, of("third", "RS(5,3)", "RS(12,3)"), "a multiple of the data");
    refused(pair, of("fourth", "RS(20,4)", "LRC(20,10,2)"), "stores no less");
    assertThatThrownBy(() -> codes.byName("y"))
        .hasMessageContaining("unknown code \"y\"")
        .hasMessageContaining("test-fast");
  }

  private static CodeFamily of(String name, String fast, String compact) {
    return new CodeFamily(name, Codes.byName(fast), Codes.byName(compact));
  }

  private static void refused(CodeFamily present, CodeFamily pair, String why) {
    assertThatThrownBy(() -> CodeRegistry.of(List.of(), List.of(present, pair)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }

  @Test
  void twoRegistriesInOneProcessAreIndependent() {
    ErasureCode narrow = Codes.named("mine", 2, "RS(4,2)");
    ErasureCode wide = Codes.named("mine", 2, "RS(6,2)");
    CodeRegistry one =
        CodeRegistry.of(
            List.of(narrow), List.of(new CodeFamily("own", narrow, Codes.byName("RS(8,2)"))));
    CodeRegistry other =
        CodeRegistry.of(
            List.of(wide), List.of(new CodeFamily("own", wide, Codes.byName("RS(18,2)"))));
    assertThat(one.byName("mine").dataCount()).isEqualTo(4);
    assertThat(other.byName("mine").dataCount()).isEqualTo(6);
    assertThat(one.byName("mine")).isNotEqualTo(other.byName("mine"));
    assertThat(one.family("own").groupSize()).isEqualTo(2);
    assertThat(other.family("own").groupSize()).isEqualTo(3);
    assertThatThrownBy(() -> CodeRegistry.builtIn().byName("mine"))
        .hasMessageContaining("unknown code");
    assertThatThrownBy(() -> Codes.byName("mine")).hasMessageContaining("unknown code");
    assertThat(CodeRegistry.builtIn().familyOf("mine")).isEmpty();
  }
}
