package io.ebbfs.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.workloads.data.DataBenchmark;
import io.ebbfs.workloads.data.DataOptions;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What the words of the command ask for. */
class DataCommandTest {
  private static DataOptions options(boolean root, String... words) {
    DataCommand command = new DataCommand();
    new CommandLine(command).parseArgs(words);
    return command.options(root);
  }

  @Test
  void withoutARateBothSystemsWorkOnLoopback() {
    assertThat(options(false).rate()).isNull();
    assertThat(options(false).groups()).isEqualTo(DataBenchmark.USUAL_GROUPS);
    assertThat(options(false, "--quick").groups()).isEqualTo(DataBenchmark.QUICK_GROUPS);
  }

  @Test
  void rootMayGiveARate() {
    DataOptions options = options(true, "--rate", "200mbit");
    assertThat(options.rate()).isEqualTo("200mbit");
    assertThat(options.groups()).containsExactly("striped", "losses");
    assertThat(options(true, "--rate", "1gbit", "--rows", "encoded").groups())
        .containsExactly("encoded");
  }

  @Test
  void othersLearnWhatToDo() {
    assertThatThrownBy(() -> options(false, "--rate", "200mbit"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContainingAll("--rate 200mbit needs root", "run it as root", "leave --rate out");
  }

  @Test
  void aTextThatIsNoRateIsRefusedWithAnExample() {
    assertThatThrownBy(() -> options(true, "--rate", "fast"))
        .isInstanceOf(ParameterException.class)
        .hasMessage("--rate fast is no rate of a link: write 200mbit, 1gbit or 500kbit");
  }

  @Test
  void commandsRunOnNoLink() {
    assertThatThrownBy(() -> options(true, "--rate", "200mbit", "--rows", "striped,commands"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("--rows commands: its commands run on no link");
  }
}
