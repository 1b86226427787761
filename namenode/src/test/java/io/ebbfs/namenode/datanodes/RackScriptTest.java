package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RackScriptTest {
  @TempDir Path directory;

  /** A program that notes its arguments in the file 'runs' beside it, and then runs these words. */
  static Path program(Path directory, String words) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("racks.sh"),
            "#!/bin/sh\necho \"$@\" >>%s/runs\n%s\n".formatted(directory, words));
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private List<String> runs() throws IOException {
    return Files.readAllLines(directory.resolve("runs"));
  }

  private RackScript script(String words) throws IOException {
    return RackScript.of(program(directory, words), 5_000, 60_000);
  }

  @Test
  void answersAreKept() throws Exception {
    RackScript script = script("for a; do echo /dc/rack-$a; done");
    script.ask(List.of("10.0.0.1", "10.0.0.2", "10.0.0.1"));

    assertThat(script.rackOf("10.0.0.1")).contains("/dc/rack-10.0.0.1");
    assertThat(script.rackOf("10.0.0.2")).contains("/dc/rack-10.0.0.2");
    assertThat(script.rackOf("10.0.0.3")).contains("/dc/rack-10.0.0.3");
    script.refresh();
    assertThat(script.rackOf("10.0.0.3")).contains("/dc/rack-10.0.0.3");
    assertThat(runs()).containsExactly("10.0.0.1 10.0.0.2", "10.0.0.3");
  }

  @Test
  void aRunHasAHundredArguments() throws Exception {
    script("for a; do printf '/r '; done")
        .ask(IntStream.range(0, 150).mapToObj(i -> "10.0.0." + i).toList());

    assertThat(runs()).hasSize(2);
    assertThat(runs().get(0).split(" ")).hasSize(100);
  }

  @Test
  void aChangedProgramIsAskedAgain() throws Exception {
    RackScript script = script("echo /1");
    assertThat(script.rackOf("a")).contains("/1");
    Files.setLastModifiedTime(program(directory, "echo /2"), FileTime.fromMillis(1_000));
    script.refresh();

    assertThat(script.rackOf("a")).contains("/2");
  }

  @Test
  void aProgramThatFailsIsLeftAloneForAWhile() throws Exception {
    RackScript script = RackScript.of(program(directory, "exit 3"), 5_000, 200);
    assertThat(script.rackOf("a")).isEmpty();
    assertThat(script.rackOf("b")).isEmpty();
    assertThat(runs()).hasSize(1);
    Thread.sleep(300);
    assertThat(script.rackOf("a")).isEmpty();
    assertThat(runs()).hasSize(2);
  }

  @Test
  void anAddressForWhichTheProgramFailsIsLeftAloneByItself() throws Exception {
    RackScript script = script("for a; do [ $a = bad ] && exit 3; echo /rack-$a; done");
    script.ask(List.of("a", "bad", "c"));
    script.ask(List.of("bad", "d"));

    assertThat(script.rackOf("a")).contains("/rack-a");
    assertThat(script.rackOf("bad")).isEmpty();
    assertThat(script.rackOf("c")).contains("/rack-c");
    assertThat(script.rackOf("d")).contains("/rack-d");
    assertThat(runs()).containsExactly("a bad c", "a", "bad", "c", "d");
  }

  @Test
  void aProgramThatIsSilentIsNotAskedForEachAddress() throws Exception {
    RackScript script = RackScript.of(program(directory, "exec sleep 600"), 100, 60_000);
    script.ask(List.of("a", "b", "c"));

    assertThat(runs()).containsExactly("a b c");
  }

  @Test
  void answersThatAreNoRacksAreRefused() throws Exception {
    for (String words : List.of("echo /a /b", "true", "echo rack", "echo /")) {
      assertThat(script(words).rackOf("a")).as(words).isEmpty();
    }
  }

  @Test
  void outputIsBounded() throws Exception {
    assertThat(script("exec yes /rack").rackOf("a")).isEmpty();
  }

  @Test
  void aSilentProgramIsEndedWithItsChildren() throws Exception {
    Path program = program(directory, "sleep 600 &\necho $! >" + directory + "/child\nwait");
    long startedNanos = System.nanoTime();

    assertThat(RackScript.of(program, 500, 60_000).rackOf("a")).isEmpty();
    assertThat(System.nanoTime() - startedNanos).isLessThan(60_000_000_000L);
    long child = Long.parseLong(Files.readString(directory.resolve("child")).strip());
    ProcessHandle.of(child).ifPresent(handle -> handle.onExit().join());
  }

  @Test
  void aFileThatCannotRunIsRefused() throws Exception {
    Path file = Files.writeString(directory.resolve("plain"), "");
    assertThatThrownBy(() -> RackScript.of(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("chmod a+rx");
    assertThatThrownBy(() -> RackScript.of(directory.resolve("none")))
        .isInstanceOf(IOException.class);
  }
}
