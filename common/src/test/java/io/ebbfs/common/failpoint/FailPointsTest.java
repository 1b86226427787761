package io.ebbfs.common.failpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.failpoint.FailPoints.Action;
import io.ebbfs.common.failpoint.FailPoints.Armed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailPointsTest {
  private static final FailPoint POINT = FailPoint.NAMENODE_COMMIT_AFTER;

  @TempDir Path directory;
  private final List<String> killed = new ArrayList<>();

  private FailPoints of(String process) {
    return new FailPoints(directory, process, () -> killed.add(process));
  }

  @Test
  void nothingHappensUnlessArmed() throws IOException {
    of("namenode").reach(POINT.pointName());
    new FailPoints(null, "namenode", () -> killed.add("?")).reach(POINT.pointName());
    FailPoints.arm(directory, FailPoint.NAMENODE_COMMIT_BEFORE, Armed.KILL);
    of("namenode").reach(POINT.pointName());
    assertThat(killed).isEmpty();
  }

  @Test
  void firesOnceInTheProcessNamedAfterTheSkips() throws IOException {
    FailPoints.arm(directory, POINT, Armed.KILL.in("two").after(2));
    for (String process : List.of("one", "two", "two", "one")) {
      of(process).reach(POINT.pointName());
    }
    assertThat(killed).isEmpty();
    of("two").reach(POINT.pointName());
    of("two").reach(POINT.pointName());
    assertThat(killed).containsExactly("two");
    assertThat(directory.resolve(POINT.pointName() + FailPoints.FIRED)).exists();
    assertThat(directory.resolve(POINT.pointName())).doesNotExist();
  }

  @Test
  void anErrorIsThrown() throws IOException {
    FailPoints.arm(directory, POINT, new Armed(Action.ERROR, 0, "", 0));
    assertThatThrownBy(() -> of("namenode").reach(POINT.pointName()))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining(POINT.pointName());
  }

  @Test
  void whatIsWrittenIsReadAgain() throws IOException {
    for (Action action : Action.values()) {
      Armed armed = new Armed(action, action == Action.STALL ? 7 : 0, "server-03", 2);
      assertThat(Armed.parse(armed.text())).isEqualTo(armed);
    }
    assertThat(Armed.parse("")).isEqualTo(Armed.KILL);
    assertThatThrownBy(() -> Armed.parse("kil")).hasMessageContaining("kil");
  }

  @Test
  void theDocumentTheListAndTheCodeAgree() throws IOException {
    Path home = Path.of("").toAbsolutePath().getParent();
    TreeSet<String> listed = new TreeSet<>();
    TreeSet<String> ofTheChunkServer = new TreeSet<>();
    for (FailPoint point : FailPoint.values()) {
      listed.add(point.pointName());
      if (point.pointName().startsWith("chunk-")) {
        ofTheChunkServer.add(point.pointName());
      }
    }
    assertThat(found(home.resolve("docs/faults.md"), "^\\| `([a-z]+-[a-z-]+)` \\|"))
        .isEqualTo(listed);
    Path header = home.resolve("chunk-cluster/src/common/fail_point.h");
    assertThat(found(header, "k\\w+ = \"([a-z-]+)\"")).isEqualTo(ofTheChunkServer);

    TreeSet<String> passed = new TreeSet<>();
    for (String module : List.of("namenode", "raid-node")) {
      passed.addAll(foundBelow(home.resolve(module + "/src/main"), "FailPoint\\.(\\w+)\\.reach"));
    }
    TreeSet<String> ofJava = new TreeSet<>();
    for (FailPoint point : FailPoint.values()) {
      if (!point.pointName().startsWith("chunk-")) {
        ofJava.add(point.name());
      }
    }
    assertThat(passed).isEqualTo(ofJava);
    assertThat(foundBelow(home.resolve("chunk-cluster/src"), "Reach\\(fail_point::(k\\w+)\\)"))
        .isEqualTo(found(header, "(k\\w+) = \""));
  }

  private static TreeSet<String> found(Path file, String pattern) throws IOException {
    TreeSet<String> found = new TreeSet<>();
    Matcher matcher = Pattern.compile(pattern, Pattern.MULTILINE).matcher(Files.readString(file));
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  private static TreeSet<String> foundBelow(Path directory, String pattern) throws IOException {
    TreeSet<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        found.addAll(found(file, pattern));
      }
    }
    return found;
  }
}
