package io.ebbfs.manager.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.manager.economics.Prices;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigTest {
  private static final Path EXAMPLES = Path.of("..", "conf");

  private static final String SOUND =
      """
      policies:
        - name: a
          paths: [/a]
          family: product
          storageBound: 1.5
          readHot: {perMiB: 1}
      """;

  private static List<ConfigProblem> problems(String policies) {
    ConfigException refused =
        catchThrowableOfType(
            ConfigException.class,
            () -> PolicySet.parse(Path.of("policies.yaml"), policies, CodeRegistry.builtIn()));
    assertThat(refused).as("was accepted:\n%s", policies).isNotNull();
    return refused.problems();
  }

  private static PolicySet sound(String policies) throws ConfigException {
    return PolicySet.parse(Path.of("policies.yaml"), policies, CodeRegistry.builtIn());
  }

  @Test
  void theExampleIsTheDefault() throws Exception {
    assertThat(ManagerConfig.load(EXAMPLES)).isEqualTo(ManagerConfig.defaults());
  }

  @Test
  void theExamplesNameEveryKey() throws Exception {
    String manager = Files.readString(EXAMPLES.resolve("manager.yaml"));
    for (Class<?> section : ManagerConfig.class.getDeclaredClasses()) {
      for (var component : section.getRecordComponents()) {
        String key = component.getName().replace("Millis", "");
        assertThat(manager).contains("  " + key + ":");
      }
    }
    String policies = Files.readString(EXAMPLES.resolve("policies.yaml"));
    for (String key :
        List.of(
            "name",
            "paths",
            "exclude",
            "owners",
            "groups",
            "family",
            "fastCode",
            "compactCode",
            "code",
            "storageBound",
            "writeColdAfter",
            "readHot",
            "perMiB",
            "perFile",
            "hysteresis",
            "minFileSize",
            "fillWait",
            "waitWhileRead",
            "maxBytesPerRun",
            "minimumStay",
            "conversionBytesPerDay",
            "conversionHours",
            "prices",
            "releaseWhenWritten",
            "clientStriped",
            "minServers")) {
      assertThat(policies).contains(key + ":");
    }
  }

  @Test
  void theExamplePoliciesAreSound() throws Exception {
    PolicySet policies = PolicySet.load(EXAMPLES, CodeRegistry.builtIn());
    PolicyRule warehouse = policies.forFile("/user/ann/tables/t", "o", "g").orElseThrow();
    assertThat(warehouse.name()).isEqualTo("warehouse");
    assertThat(warehouse.family().compact()).isEqualTo("PC(6x5)");
    assertThat(warehouse.writeColdAfterMillis()).isEqualTo(3_600_000);
    assertThat(warehouse.maxBytesPerRun()).isEqualTo(20L << 30);
    assertThat(warehouse.readHot()).isEqualTo(ReadHot.AUTO);
    assertThat(warehouse.prices()).isEqualTo(Prices.DEFAULT);
    assertThat(warehouse.pace().minimumStayMillis()).isEqualTo(86_400_000);
    PolicyRule archive = policies.forFile("/archive/2026/x", "o", "g").orElseThrow();
    assertThat(archive.readHot()).isEqualTo(new ReadHot(ReadHot.Unit.PER_FILE, 5));
    assertThat(policies.forFile("/tmp/x", "o", "g")).isEmpty();
  }

  @Test
  void aLocalClusterHasAPolicyForEveryFileWithShortTimes() throws Exception {
    Path local = EXAMPLES.resolve("local");
    PolicyRule policy =
        PolicySet.load(local, CodeRegistry.builtIn()).forFile("/foo", "o", "g").orElseThrow();
    assertThat(policy.storageBound()).hasValue(1.5);
    ManagerConfig manager = ManagerConfig.load(local);
    assertThat(
            policy.writeColdAfterMillis()
                + policy.fillWaitMillis()
                + manager.schedule().evaluateEveryMillis())
        .isLessThan(60_000);
    assertThat(manager.heat().halfLifeMillis()).isLessThan(120_000);
    for (String file : List.of(PolicySet.FILE, ManagerConfig.FILE)) {
      assertThat(Files.readString(local.resolve(file))).startsWith("# FOR TRYING OUT");
      assertThat(Files.readString(local.resolve(file))).contains("IN PRODUCTION");
    }
  }

  @Test
  void aPolicyThatMatchesNothingCanBeWrittenInOneLine() throws Exception {
    String line = "policies: [{name: none, paths: [/nothing], code: 'XOR(2,1)'}]\n";
    assertThat(sound(line).forFile("/foo", "o", "g")).isEmpty();
  }

  @Test
  void allProblemsComeAtOnceWithTheirLines() {
    List<ConfigProblem> problems =
        problems(
            """
            policies:
              - name: a
                paths: [/a]
                famly: product
                writeColdAfter: soon
                maxBytesPerRun: 10 parsecs
                hysteresis: 0.5
                readHot: {perMib: 1}
              - name: a
                paths: [data, /a]
                family: prodct
                readHot: {perFile: 1}
                name: b
            """);
    assertThat(problems.toString())
        .contains("policies.yaml:4: unknown key 'famly'; did you mean 'family'?")
        .contains("policies.yaml:5: 'writeColdAfter: soon' is not a duration")
        .contains("policies.yaml:6: 'maxBytesPerRun: 10 parsecs' is not a size")
        .contains("policies.yaml:7: 'hysteresis: 0.5' is not a number in range")
        .contains("policies.yaml:8: unknown key 'readHot.perMib'; did you mean 'perMiB'?")
        .contains("policies.yaml:10: path 'data' does not start with '/'")
        .contains("policies.yaml:11: unknown code family 'prodct'; did you mean 'product'?")
        .contains("policies.yaml:13: duplicate key 'name', first in line 9");
    assertThat(problems).isSortedAccordingTo((x, y) -> Integer.compare(x.line(), y.line()));
  }

  @Test
  void aBoundBelowTheCodesIsRefusedWithTheRemedy() {
    assertThat(problems(SOUND.replace("1.5", "1.3")).get(0).toString())
        .isEqualTo(
            "policies.yaml:5: storageBound 1.3 of policy 'a' is below what PC(6x5) can reach"
                + " (1.400); write at least 1.41, or take another family (rs reaches 1.250)");
  }

  @Test
  void overlapsAreNamed() {
    String second =
        """
          - name: b
            paths: [%s]
            family: lrc
            readHot: {perMiB: 1}
        """;
    assertThat(problems(SOUND + second.formatted("/a")).get(0).message())
        .contains("path '/a' of policy 'b' overlaps '/a' of policy 'a' (line 3)");
    assertThat(problems(SOUND.replace("[/a]", "[/x/*.log]") + second.formatted("\"/*/y.log\"")))
        .hasSize(1);
  }

  private static String owned(String criteria) {
    return """
    policies:
      - {name: all, paths: [/a], family: product, readHot: auto}
      - {name: x, paths: [/a], %s, family: product, readHot: auto}
    """
        .formatted(criteria);
  }

  private static String nameFor(PolicySet policies, String path, String owner, String group) {
    return policies.forFile(path, owner, group).map(PolicyRule::name).orElse("none");
  }

  @Test
  void theClusterHasABoundThatSomePolicyCanReach() throws Exception {
    assertThat(sound(SOUND).storageBound()).isEmpty();
    assertThat(sound("storageBound: 1.45\n" + SOUND).storageBound()).hasValue(1.45);
    assertThat(problems("storageBound: 1.3\n" + SOUND).toString())
        .contains("policies.yaml:1: storageBound 1.3 of the cluster is below what its policies")
        .contains("(PC(6x5) stores 1.400)")
        .contains("write at least 1.41");
  }

  @Test
  void allCriteriaOfAPolicyMustMatch() throws Exception {
    PolicySet policies = sound(owned("owners: [etl, ann], groups: [staff]"));
    assertThat(nameFor(policies, "/a/f", "etl", "staff")).isEqualTo("x");
    assertThat(nameFor(policies, "/a/f", "ann", "staff")).isEqualTo("x");
    assertThat(nameFor(policies, "/a/f", "bob", "staff")).isEqualTo("all");
    assertThat(nameFor(policies, "/a/f", "etl", "others")).isEqualTo("all");
    assertThat(nameFor(policies, "/b/f", "etl", "staff")).isEqualTo("none");
  }

  @Test
  void aLongerPathComesBeforeOwnersAndOwnersBeforeGroups() throws Exception {
    PolicySet policies =
        sound(
            owned("owners: [etl]")
                + """
                  - {name: g, paths: [/a], groups: [staff], family: product, readHot: auto}
                  - {name: longer, paths: [/a/b], family: product, readHot: auto}
                """);
    assertThat(nameFor(policies, "/a/f", "etl", "staff")).isEqualTo("x");
    assertThat(nameFor(policies, "/a/f", "ann", "staff")).isEqualTo("g");
    assertThat(nameFor(policies, "/a/b/f", "etl", "staff")).isEqualTo("longer");
  }

  @Test
  void policiesOfOneOwnerMayNotClaimAPathAlike() throws Exception {
    String second = "  - {name: y, paths: ['/?'], owners: [%s], family: product, readHot: auto}\n";
    assertThat(sound(owned("owners: [etl]") + second.formatted("ann")).rules()).hasSize(3);
    String overlap = owned("owners: [etl, ann]").replace("[/a], owners", "['/?'], owners");
    assertThat(problems(overlap + second.formatted("bob, ann")).toString())
        .contains("policies.yaml:4: path '/?' of policy 'y' overlaps '/?' of policy 'x' (line 3)")
        .contains("both name the same owners or groups")
        .contains("name different owners or groups");
  }

  @Test
  void ownersThatAreNoNamesAreRefused() throws Exception {
    assertThat(problems(owned("owners: ['etl*'], groups: []")).toString())
        .contains("policies.yaml:3: 'etl*' of owners is not a name")
        .contains("policies.yaml:3: groups names nobody")
        .contains("leave groups out for all");
  }

  @Test
  void theLongestMatchWins() throws Exception {
    PolicySet policies =
        sound(
            SOUND
                + """
                  - name: b
                    paths: [/a/b, "/a/**/hot-*"]
                    fastCode: LRC(12,6,2)
                    compactCode: LRC(12,2,2)
                    storageBound: null
                    readHot: {perMiB: 1}
                """);
    assertThat(policies.forFile("/a/c", "o", "g").orElseThrow().name()).isEqualTo("a");
    assertThat(policies.forFile("/a/b/c", "o", "g").orElseThrow().name()).isEqualTo("b");
    assertThat(policies.forFile("/a/x/y/hot-1", "o", "g").orElseThrow().name()).isEqualTo("b");
    assertThat(policies.forFile("/ab", "o", "g")).isEmpty();
    assertThat(policies.named("b").orElseThrow().storageBound()).isEmpty();
    assertThat(policies.named("b").orElseThrow().family().name()).isEqualTo("lrc");
  }

  @Test
  void codesWithoutAConversionAreRefused() {
    assertThat(
            problems(
                    SOUND.replace(
                        "family: product", "fastCode: PC(2x5)\n    compactCode: LRC(12,2,2)"))
                .get(0)
                .toString())
        .contains("no conversion between PC(2x5) and LRC(12,2,2)")
        .contains("PC(2x5) and PC(6x5)");
  }

  private static final String SINGLE =
      """
      policies:
        - name: a
          paths: [/a]
          code: RS(6,3)
      """;

  @Test
  void aSingleCodeNeedsNeitherThresholdNorBound() throws Exception {
    PolicyRule rule = sound(SINGLE).named("a").orElseThrow();
    assertThat(rule.isSingle()).isTrue();
    assertThat(rule.family().fast()).isEqualTo("RS(6,3)");
    assertThat(rule.readHot()).isEqualTo(ReadHot.NEVER);
    assertThat(rule.storageBound()).isEmpty();
    assertThat(rule.minServers()).isEqualTo(3);
    assertThat(rule.minDisks()).isEqualTo(9);
    assertThat(sound(SINGLE + "    readHot: never\n").rules().get(0).readHot())
        .isEqualTo(ReadHot.NEVER);
    PolicyRule hot = sound(SINGLE + "    readHot: {perFile: 2}\n").named("a").orElseThrow();
    assertThat(hot.readHot().show()).isEqualTo("2.00 reads/file");
    for (String code : List.of("RS(10,4)", "LRC(12,2,2)", "XOR(3,1)", "PC(6x5)")) {
      assertThat(sound(SINGLE.replace("RS(6,3)", code)).rules().get(0).showCodes()).isEqualTo(code);
    }
  }

  @Test
  void aSingleCodeWithWhatIsForPairsIsRefusedWithTheRemedy() {
    assertThat(problems(SINGLE + "    storageBound: 1.6\n").get(0).toString())
        .isEqualTo(
            "policies.yaml:5: policy 'a' has a storageBound and the single code RS(6,3), which"
                + " always stores 1.500; leave storageBound out, or write 'family:' instead of"
                + " 'code:'");
    assertThat(problems(SINGLE + "    family: rs\n").get(0).toString())
        .contains("policies.yaml:5: both a single code and 'family' are given");
    assertThat(problems(SINGLE.replace("RS(6,3)", "RS(6;3)")).toString())
        .contains("policies.yaml:4: unknown code", "did you mean 'RS(6,3)'?");
  }

  private static final String PACED =
      """
      policies:
        - name: a
          paths: [/a]
          family: lrc
          prices: {reader: 4}
          minimumStay: 2h
          conversionBytesPerDay: 1TiB
          conversionHours: 22-6
          waitWhileRead: 36h
      """;

  @Test
  void withoutAThresholdConversionsAreWeighed() throws Exception {
    PolicyRule rule = sound(PACED).named("a").orElseThrow();
    assertThat(rule.readHot()).isEqualTo(ReadHot.AUTO);
    assertThat(rule.prices()).isEqualTo(new Prices(Prices.DEFAULT.storage(), 4));
    assertThat(rule.pace())
        .isEqualTo(
            new Pace(7_200_000, OptionalLong.of(1L << 40), Optional.of(new Pace.Hours(22, 6))));
    assertThat(rule.waitWhileReadMillis()).isEqualTo(36 * 3_600_000L);
    assertThat(
            sound(PACED.replace("    waitWhileRead: 36h\n", ""))
                .rules()
                .get(0)
                .waitWhileReadMillis())
        .isEqualTo(48 * 3_600_000L);
    assertThat(sound(PACED + "    readHot: auto\n").rules().get(0).readHot())
        .isEqualTo(ReadHot.AUTO);
  }

  @Test
  void anExcludedTreeHasThePolicyThatMatchesNextIfAny() throws Exception {
    String excluded =
        SOUND.replace("paths: [/a]", "paths: [/a, /c]\n    exclude: [/a/tmp, '/c/*.log']")
            + "  - {name: b, paths: [/a/tmp/keep, /], code: 'XOR(2,1)'}\n";
    PolicySet policies = sound(excluded);
    assertThat(policies.forFile("/a/x", "o", "g").orElseThrow().name()).isEqualTo("a");
    assertThat(policies.forFile("/a/tmp/x", "o", "g").orElseThrow().name()).isEqualTo("b");
    assertThat(policies.forFile("/c/y.log", "o", "g").orElseThrow().name()).isEqualTo("b");
    assertThat(sound(excluded.replace("/a/tmp/keep, /", "/q")).forFile("/a/tmp/x", "o", "g"))
        .isEmpty();
    assertThat(problems(SOUND + "    exclude: [tmp]\n").toString())
        .contains("policies.yaml:7: exclude");
  }

  @Test
  void whatHasNoEffectIsRefused() {
    assertThat(problems(PACED + "    hysteresis: 3\n").toString())
        .contains("policies.yaml:10: hysteresis has no effect with 'readHot: auto'");
    assertThat(problems(PACED + "    readHot: {perFile: 2}\n").toString())
        .contains(
            "policies.yaml:5: prices have no effect with a threshold",
            "policies.yaml:9: waitWhileRead has no effect with a threshold");
    assertThat(problems(PACED.replace("lrc", "rs-lrc")).toString())
        .contains("no reads are worth the fast code of rs-lrc");
    assertThat(problems(PACED.replace("1TiB", "0")).toString())
        .contains("policies.yaml:7: conversionBytesPerDay is 0");
    for (String hours : List.of("22", "22-25", "5-5", "x")) {
      assertThat(problems(PACED.replace("22-6", hours)).toString())
          .contains("policies.yaml:8: 'conversionHours: " + hours + "' does not name hours");
    }
    assertThat(problems(PACED + "    readHot: auot\n").toString()).contains("policies.yaml:10");
  }

  @Test
  void fewerServersThanTheCodesNeedAreRefused() {
    assertThat(problems(SOUND + "    minServers: 2\n").get(0).message())
        .contains("minServers 2 of policy 'a'")
        .contains("(4)");
  }

  @Test
  void whatIsNotYamlIsRefusedWithItsLine() {
    assertThat(problems("policies:\n  - name: [a\n").get(0).line()).isEqualTo(3);
    assertThat(problems("").get(0).message()).contains("empty");
    assertThat(problems("[1]").toString()).contains("not a mapping");
  }

  @Test
  void managerSettingsAreChecked() {
    ConfigException refused =
        catchThrowableOfType(
            ConfigException.class,
            () ->
                ManagerConfig.parse(
                    Path.of("manager.yaml"),
                    "heat: {halflife: 0, pruneBelow: x}\nlimits:\n  pageSize: 0\n"));
    assertThat(refused.getMessage())
        .contains("manager.yaml:1: unknown key 'heat.halflife'; did you mean 'halfLife'?")
        .contains("manager.yaml:1: 'heat.pruneBelow: x'")
        .contains("manager.yaml:3: 'limits.pageSize: 0' is not a number in range");
  }

  @Test
  void anEditThatIsTakenBackIsNoLongerRefused(@TempDir Path directory) throws Exception {
    Path file = directory.resolve(PolicySet.FILE);
    Files.writeString(file, SOUND);
    LivePolicies live = LivePolicies.open(directory, CodeRegistry.builtIn(), 0);
    Files.writeString(file, SOUND.replace("product", "nothing"));
    assertThat(live.poll(System.currentTimeMillis())).isFalse();
    assertThat(live.current().refused()).hasSize(1);
    assertThat(live.current().policies().rules()).hasSize(1);
    Files.delete(file);
    assertThat(live.poll(System.currentTimeMillis())).isFalse();
    assertThat(live.current().refused().get(0).message()).contains("cannot be read");
    Files.writeString(file, SOUND);
    live.poll(System.currentTimeMillis());
    assertThat(live.current().refused()).isEmpty();
  }
}
