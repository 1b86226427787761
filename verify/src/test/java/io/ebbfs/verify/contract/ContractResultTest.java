package io.ebbfs.verify.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ContractResultTest {
  private static final List<String> LINES =
      List.of(
          "passed\tOpen.testOpen\t",
          "failed\tRename.testOne%231\tjava.io.IOException%3A+no",
          "failed\tConcat.testTwo\tno",
          "leftOut\tSeek.testThree\tno+files");

  @Test
  void aTestThatHdfsFailsIsLeftOut() {
    ContractResult result = ContractResult.parse(LINES);
    assertThat(result.failedSubjects()).containsExactly("Concat", "Rename");
    ContractResult hdfs =
        ContractResult.parse(
            List.of("failed\tConcat.testTwo\twhy", "passed\tRename.testOne%231\t"));
    assertThat(result.comparedWith(hdfs).figures())
        .containsEntry("passed", 1)
        .containsEntry("failed", List.of("Rename.testOne#1"))
        .containsEntry(
            "leftOut",
            List.of(
                Map.of("name", "Concat.testTwo", "reason", "Apache HDFS fails it, too: why"),
                Map.of("name", "Seek.testThree", "reason", "no files")));
  }

  @Test
  void aLineOfSomethingElseIsRefused() {
    for (String line : List.of("a word", "ended\tname\treason", "passed\tname")) {
      assertThatThrownBy(() -> ContractResult.parse(List.of(line)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
