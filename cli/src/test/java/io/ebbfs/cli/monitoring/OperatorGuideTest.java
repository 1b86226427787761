package io.ebbfs.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the guides for operators name exists: metrics, commands, routes of the API, units. */
class OperatorGuideTest {
  private static final Path HOME = Path.of("..");
  private static final Pattern COMMAND = Pattern.compile("\\bebb ([a-z]+)");
  private static final Pattern ROUTE = Pattern.compile("API(/[a-z0-9/]+)");
  private static final Pattern UNIT = Pattern.compile("\\b(ebbfs-[a-z-]+)\\b");
  private static final List<String> PACKAGES_WITHOUT_UNIT = List.of("ebbfs-common", "ebbfs-client");

  private static String guide(String name) throws IOException {
    return Files.readString(HOME.resolve("docs").resolve(name));
  }

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1)).distinct().toList();
  }

  @Test
  void fortyQuestionsAreAnswered() throws Exception {
    List<String> questions =
        guide("operate.md")
            .lines()
            .filter(line -> line.matches("\\| [^|]+\\? \\| .+ \\|"))
            .toList();
    assertThat(questions).hasSizeGreaterThanOrEqualTo(40).doesNotHaveDuplicates();
  }

  @Test
  void namedMetricsAreExported() throws Exception {
    for (String name : List.of("operate.md", "deploy.md")) {
      assertThat(ExportedMetrics.names())
          .as(name)
          .containsAll(ExportedMetrics.namedIn(guide(name)));
    }
  }

  @Test
  void namedCommandsExist() throws Exception {
    String launcher = Files.readString(HOME.resolve("ebb"));
    for (String name : List.of("operate.md", "deploy.md")) {
      for (String command : all(COMMAND, guide(name))) {
        assertThat(launcher)
            .as(name + ": " + command)
            .containsPattern("\\./ebb [a-z |]*" + command);
      }
    }
  }

  @Test
  void namedRoutesExist() throws Exception {
    String routes =
        Files.readString(
            HOME.resolve("adaptive-manager/src/main/java/io/ebbfs/manager/api/Routes.java"));
    for (String route : all(ROUTE, guide("operate.md"))) {
      assertThat(routes).contains("\"" + route + "\"");
    }
  }

  @Test
  void namedUnitsExist() throws Exception {
    for (String name : List.of("operate.md", "deploy.md")) {
      for (String unit : all(UNIT, guide(name).replaceAll("job_name: .*", ""))) {
        assertThat(
                PACKAGES_WITHOUT_UNIT.contains(unit)
                    || Files.exists(HOME.resolve("packaging/systemd/" + unit + ".service")))
            .as(name + ": " + unit)
            .isTrue();
      }
    }
  }
}
