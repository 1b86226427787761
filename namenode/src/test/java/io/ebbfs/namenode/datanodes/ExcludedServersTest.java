package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExcludedServersTest {
  @TempDir Path directory;

  private ExcludedServers read(String text) throws IOException {
    Path file = directory.resolve("exclude");
    Files.writeString(file, text);
    return ExcludedServers.read(file);
  }

  @Test
  void namesAreDividedByWhiteSpaceAndCommentsAreLeftOut() throws IOException {
    assertThat(read("# gone soon\na.example b.example:9866\n\n\t10.0.0.7 # rack 3\n").names())
        .containsExactlyInAnyOrder("a.example", "b.example:9866", "10.0.0.7");
    assertThat(read("").names()).isEmpty();
  }

  @Test
  void aNameFitsByHostOrAddressAndByItsPort() throws IOException {
    ExcludedServers list = read("a.example b.example:9866 10.0.0.7");
    assertThat(list.match("a.example", "10.0.0.1", 1)).isTrue();
    assertThat(list.match("b.example", "10.0.0.2", 9866)).isTrue();
    assertThat(list.match("b.example", "10.0.0.2", 9867)).isFalse();
    assertThat(list.match("c.example", "10.0.0.7", 1)).isTrue();
    assertThat(list.match("c.example", "10.0.0.70", 1)).isFalse();
  }

  @Test
  void aMistakeIsNamedWithItsLine() {
    assertThatThrownBy(() -> read("a.example\n[{\"hostName\": \"b\"}]"))
        .hasMessageContaining("line 2")
        .hasMessageContaining("'[{\"hostName\":' is no server")
        .hasMessageContaining("write host names or addresses");
    assertThatThrownBy(() -> ExcludedServers.read(directory.resolve("none")))
        .hasMessageContaining("cannot be read")
        .hasMessageContaining("create it, or change excludeFile");
  }
}
