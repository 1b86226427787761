package io.ebbfs.cli.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Dependencies between modules and packages are those of {@code docs/architecture.md}. */
class ArchitectureTest {
  private static final Set<String> MEASURING =
      Set.of("testbed", "fault-injector", "workloads", "verify");
  private static final Set<String> SERVING = Set.of("namenode", "raid-node", "adaptive-manager");
  private static final Pattern OUR_DEPENDENCY =
      Pattern.compile(
          "<groupId>io\\.ebbfs</groupId>\\s*<artifactId>([\\w-]+)</artifactId>"
              + "\\s*<version>\\$\\{project\\.version}</version>(\\s*<scope>test</scope>)?");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.ebbfs");

  private final ModuleTable table = table();

  private static ModuleTable table() {
    try {
      return ModuleTable.read();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A rule about nothing would hold. */
  @Test
  void everyModuleOfTheTableHasClasses() {
    Set<String> seen = new TreeSet<>();
    CLASSES.forEach(type -> seen.add(table.moduleOf(type.getPackageName())));
    assertThat(seen).containsExactlyInAnyOrderElementsOf(table.packageOf().keySet());
    assertThat(CLASSES.size()).isGreaterThan(500);
  }

  @Test
  void noTwoPackagesNeedEachOther() {
    SlicesRuleDefinition.slices()
        .matching("io.ebbfs.(**)")
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
  }

  @Test
  void modulesUseOnlyTheModulesOfTheTable() {
    List<String> wrong =
        CLASSES.stream()
            .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
            .filter(this::isForbidden)
            .map(Dependency::getDescription)
            .sorted()
            .toList();
    assertThat(wrong).as("dependencies that docs/architecture.md does not allow").isEmpty();
  }

  private boolean isForbidden(Dependency dependency) {
    String from = table.moduleOf(dependency.getOriginClass().getPackageName());
    JavaClass target = dependency.getTargetClass().getBaseComponentType();
    String to = table.moduleOf(target.getPackageName());
    return !from.isEmpty()
        && !to.isEmpty()
        && !from.equals(to)
        && !table.usesOf().get(from).contains(to);
  }

  @Test
  void theTableItselfKeepsThoseWhoServeFromThoseWhoMeasure() {
    for (String serving : SERVING) {
      assertThat(table.usesOf().get(serving)).isSubsetOf("common", "protocol", "coding-core");
    }
    for (String measuring : MEASURING) {
      if (!measuring.equals("verify")) {
        assertThat(table.usesOf().get(measuring)).doesNotContainAnyElementsOf(SERVING);
      }
    }
    table
        .usesOf()
        .forEach((module, uses) -> assertThat(uses).as(module).doesNotContain("cli", module));
  }

  @Test
  void mavenAllowsNoMoreThanTheTable() throws IOException {
    for (String module : table.packageOf().keySet()) {
      String pom = Files.readString(SourceTree.root().resolve(module).resolve("pom.xml"));
      Set<String> used = new TreeSet<>();
      for (MatchResult dependency : ModuleTable.matches(OUR_DEPENDENCY, pom)) {
        if (dependency.group(2) == null) {
          used.add(dependency.group(1));
        }
      }
      assertThat(table.usesOf().get(module)).as(module + "/pom.xml").containsAll(used);
    }
  }

  /** One name, one meaning: a reader who looks for a class finds one. */
  @Test
  void noTwoClassesHaveTheSameName() throws IOException {
    Map<String, List<String>> places = new TreeMap<>();
    for (String module : table.packageOf().keySet()) {
      try (Stream<Path> files = Files.walk(SourceTree.root().resolve(module).resolve("src"))) {
        files
            .map(Path::toString)
            .filter(file -> file.endsWith(".java") && !file.endsWith("package-info.java"))
            .forEach(
                file ->
                    places
                        .computeIfAbsent(file.replaceAll(".*/", ""), name -> new ArrayList<>())
                        .add(file));
      }
    }
    assertThat(places).isNotEmpty();
    assertThat(places.values()).allSatisfy(same -> assertThat(same).hasSize(1));
  }

  /** Every main is in one module, so a reader knows where commands begin. */
  @Test
  void everyMainIsInTheModuleCli() {
    List<String> elsewhere =
        CLASSES.stream()
            .filter(type -> !table.moduleOf(type.getPackageName()).equals("cli"))
            .filter(type -> type.tryGetMethod("main", String[].class).isPresent())
            .map(JavaClass::getName)
            .sorted()
            .toList();
    assertThat(elsewhere).isEmpty();
  }
}
