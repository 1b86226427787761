package io.ebbfs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The launcher script knows every command of the tree without starting Java. */
class LauncherUsageTest {
  private static final Map<String, CommandLine> COMMANDS = Ebb.commandLine().getSubcommands();

  private final String script = script();

  private static String script() {
    try {
      return Files.readString(Path.of("..", "ebb"));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theUsageShowsEveryCommandThatIsNotHidden() {
    COMMANDS.forEach(
        (name, command) -> {
          boolean hidden = command.getCommandSpec().usageMessage().hidden();
          assertThat(script.contains("./ebb " + name + " ")).as(name).isEqualTo(!hidden);
        });
  }

  @Test
  void everyCommandIsHandedOn() {
    String choices = script.substring(script.lastIndexOf("case \"$command\" in"));
    for (String name : COMMANDS.keySet()) {
      assertThat(choices).as(name).containsPattern("[ |]" + name + "[ )]");
    }
  }
}
