package io.ebbfs.coding.definitions;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class CodeDefinitionsTest {
  private static CodeDefinitions of(Map<String, String> codes, Map<String, String> pairs) {
    return new CodeDefinitions(new TreeMap<>(codes), new TreeMap<>(pairs));
  }

  @Test
  void whatIsEqualDoesNotDiffer() {
    assertThat(of(Map.of("a", "1"), Map.of()).difference("A", of(Map.of("a", "1"), Map.of()), "B"))
        .isEmpty();
    assertThat(CodeDefinitions.of(CodeRegistry.builtIn()).pairs())
        .containsKeys("product", "lrc", "rs");
  }

  @Test
  void aCodeThatOnlyOneHasIsNamedWithWhereItIs() {
    CodeDefinitions none = of(Map.of(), Map.of());
    CodeDefinitions one = of(Map.of("wide", "1f"), Map.of());
    assertThat(none.difference("A", one, "B")).hasValue("code wide is defined at B and not at A");
    assertThat(one.difference("A", none, "B")).hasValue("code wide is defined at A and not at B");
  }

  @Test
  void otherDefinitionsAreBothTold() {
    assertThat(
            of(Map.of("wide", "1f"), Map.of())
                .difference("A", of(Map.of("wide", "2e"), Map.of()), "B"))
        .hasValue("code wide is fingerprint 1f at A and fingerprint 2e at B");
    assertThat(
            of(Map.of(), Map.of("p", "x -> y"))
                .difference("A", of(Map.of(), Map.of("p", "x -> z")), "B"))
        .hasValue("pair p is x -> y at A and x -> z at B");
  }
}
