package io.ebbfs.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which rates of links the benchmark takes. */
class DataCommandTest {
  @Test
  void rootMayGiveARate() {
    assertThat(DataCommand.objectionTo("200mbit", true)).isNull();
  }

  @Test
  void othersLearnWhatToDo() {
    assertThat(DataCommand.objectionTo("200mbit", false))
        .contains("--rate 200mbit needs root", "run it as root", "leave --rate out");
  }

  @Test
  void aTextThatIsNoRateIsRefusedWithAnExample() {
    assertThat(DataCommand.objectionTo("fast", true))
        .isEqualTo("--rate fast is no rate of a link: write 200mbit, 1gbit or 500kbit");
  }
}
