package io.ebbfs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;

/** Every command explains itself. */
class EveryCommandTest {
  @TestFactory
  List<DynamicTest> everyCommandAndWordIsExplainedInSentences() {
    List<DynamicTest> tests = new ArrayList<>();
    add(Ebb.commandLine(), tests);
    assertThat(tests).hasSizeGreaterThan(40);
    return tests;
  }

  private static void add(CommandLine command, List<DynamicTest> tests) {
    String name = command.getCommandSpec().qualifiedName();
    tests.add(DynamicTest.dynamicTest(name, () -> check(command, name)));
    command.getSubcommands().values().forEach(below -> add(below, tests));
  }

  private static void check(CommandLine command, String name) {
    assertThat(command.getCommandSpec().optionsMap()).as(name).containsKey("--help");
    assertThat(command.getCommandSpec().usageMessage().description())
        .as(name)
        .isNotEmpty()
        .allMatch(EveryCommandTest::isSentence);
    for (ArgSpec argument : command.getCommandSpec().args()) {
      assertThat(argument.description()).as(name + " " + argument).hasSize(1);
      assertThat(argument.description()[0]).as(name).matches(EveryCommandTest::isSentence);
    }
    assertThat(command.getUsageMessage()).contains("Usage: " + name);
  }

  private static boolean isSentence(String text) {
    return Character.isUpperCase(text.charAt(0)) && text.endsWith(".");
  }
}
