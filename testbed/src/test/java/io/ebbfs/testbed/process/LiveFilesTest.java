package io.ebbfs.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveFilesTest {
  @TempDir Path dir;

  @Test
  void filesAreListedInOrderAndDirectoriesAreNot() throws IOException {
    Path b = Files.createFile(Files.createDirectories(dir.resolve("x/y")).resolve("b"));
    Path a = Files.createFile(dir.resolve("a"));
    Files.createDirectory(dir.resolve("empty"));
    assertThat(LiveFiles.below(dir)).containsExactly(a, b);
    assertThat(LiveFiles.below(dir.resolve("missing"))).isEmpty();
  }

  @Test
  void whatVanishesMeanwhileIsNoErrorAndWhatStaysIsFound() throws Exception {
    for (int n = 0; n < 50; n++) {
      Files.createFile(Files.createDirectories(dir.resolve("d" + n)).resolve("stays"));
    }
    AtomicBoolean stop = new AtomicBoolean();
    CompletableFuture<Void> busy =
        CompletableFuture.runAsync(
            () -> {
              for (int n = 0; !stop.get(); n++) {
                Path file = dir.resolve("d" + n % 50).resolve("comes and goes");
                Path directory = dir.resolve("d" + n % 50).resolve("directory");
                try {
                  Files.createFile(file);
                  Files.createDirectory(directory);
                  Files.delete(directory);
                  Files.delete(file);
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              }
            });
    try {
      for (int n = 0; n < 300; n++) {
        assertThat(LiveFiles.below(dir)).filteredOn(file -> file.endsWith("stays")).hasSize(50);
      }
    } finally {
      stop.set(true);
    }
    busy.get();
  }
}
