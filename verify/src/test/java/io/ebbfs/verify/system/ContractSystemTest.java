package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.verify.contract.ContractOptions;
import io.ebbfs.verify.contract.ContractRun;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hadoop's contract tests of file systems, all on one cluster. */
@Tag("process")
class ContractSystemTest {
  @Test
  void noTestFailsThatApacheHdfsPasses(@TempDir Path directory) throws Exception {
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    boolean passed =
        ContractRun.run(
            new ContractOptions(false, List.of(), Optional.empty(), Optional.of(directory)),
            new PrintStream(told, true, StandardCharsets.UTF_8));
    String text = told.toString(StandardCharsets.UTF_8);
    System.out.println(text);
    assertThat(passed).as(text).isTrue();
    assertThat(text).as("all subjects have tests").containsPattern("[1-9][0-9]{2} passed");
  }
}
