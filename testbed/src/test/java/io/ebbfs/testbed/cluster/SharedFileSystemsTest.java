package io.ebbfs.testbed.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SharedFileSystemsTest {
  private static final Path MEMORY = Path.of("/dev/shm");

  @TempDir Path directory;

  @Test
  void disksOfAllServersOnOneFileSystemAreCounted() throws Exception {
    Path a = Files.createDirectory(directory.resolve("a"));
    Path b = Files.createDirectory(directory.resolve("b"));
    Path c = Files.createDirectory(directory.resolve("c"));
    Path later = directory.resolve("later");
    assertThat(SharedFileSystems.disksPerFileSystem(List.of(a, b, c, later), List.of(a)))
        .isEqualTo(3);
  }

  @Test
  void aDiskOnAFileSystemOfItsOwnCountsAlone() throws Exception {
    Path a = Files.createDirectory(directory.resolve("a"));
    Path b = Files.createDirectory(directory.resolve("b"));
    Assumptions.assumeTrue(
        Files.isDirectory(MEMORY)
            && !Files.getAttribute(MEMORY, "unix:dev").equals(Files.getAttribute(a, "unix:dev")));
    List<Path> all = List.of(a, b, MEMORY);
    assertThat(SharedFileSystems.disksPerFileSystem(all, List.of(MEMORY))).isEqualTo(1);
    assertThat(SharedFileSystems.disksPerFileSystem(all, List.of(a))).isEqualTo(2);
    assertThat(SharedFileSystems.disksPerFileSystem(all, List.of(a, MEMORY))).isEqualTo(2);
  }
}
