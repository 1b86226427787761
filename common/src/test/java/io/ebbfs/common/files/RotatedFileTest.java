package io.ebbfs.common.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RotatedFileTest {
  @TempDir Path directory;

  @Test
  void fullFilesAreRenamedAndTheOldestGoes() throws Exception {
    Path file = directory.resolve("log");
    try (RotatedFile log = RotatedFile.open(file, "a test", 10)) {
      for (int i = 0; i < 40; i++) {
        log.append("line %02d.\n".formatted(i));
      }
    }
    assertThat(file).hasContent("line 38.\nline 39.\n");
    assertThat(directory.resolve("log.1")).hasContent("line 36.\nline 37.\n");
    assertThat(directory.resolve("log.10")).exists();
    assertThat(directory.resolve("log.11")).doesNotExist();
  }

  @Test
  void anotherStartGoesOnWithTheFile() throws Exception {
    Path file = Files.writeString(directory.resolve("log"), "before\n");
    try (RotatedFile log = RotatedFile.open(file, "a test")) {
      log.append("after\n");
    }
    assertThat(file).hasContent("before\nafter\n");
  }
}
