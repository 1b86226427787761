package io.ebbfs.coding.definitions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CodesFileTest {
  private static CodesFile.Definitions parse(String text) throws ConfigException {
    return CodesFile.parse(Path.of("codes.yaml"), text);
  }

  private static Path example() {
    return Path.of("..", "conf", CodesFile.FILE);
  }

  @Test
  void theExampleDefinesNothing() throws Exception {
    CodesFile.Definitions none = parse(Files.readString(example()));
    assertThat(none.codes()).isEmpty();
    assertThat(none.pairs()).isEmpty();
  }

  @Test
  void theExampleWithItsCommentsTakenAwayIsRight(@TempDir Path directory) throws Exception {
    String text =
        Files.readString(example()).replaceAll("(?m)^#  ", "  ").replaceAll("(?m): \\[\\]$", ":");
    Files.writeString(directory.resolve(CodesFile.FILE), text);
    CodeRegistry codes = CodesFile.readIn(directory);
    assertThat(codes.byName("two-sums").generator().get(6, 4)).isEqualTo(16);
    assertThat(codes.byName("wide-fast").dataCount()).isEqualTo(8);
    assertThat(codes.family("wide").groupSize()).isEqualTo(3);
  }

  @Test
  void noFileDefinesNothing(@TempDir Path directory) throws Exception {
    assertThat(CodesFile.readIn(directory).userDefined()).isEmpty();
    assertThatThrownBy(() -> CodesFile.read(directory.resolve("none.yaml")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("none.yaml");
  }

  @Test
  void whatIsWrongIsAllReportedWithLineAndRemedy() {
    refused(
        """
        codes:
          - name: weak
            tolerance: 2
            parities:
              - 1 1 1
              - 1, 2, 2
          - name: both
            tolerance: 1
            code: XOR(3,1)
            parities: [1 1 1]
          - name: odd
            tolerence: 1
            code: RS(5,9)
          - name: big
            tolerance: 1
            parities:
              - 1 256 0xzz
        pairs:
          - name: half
            fast: RS(4,2)
          - name: strange
            fast: RS(4,2)
            compact: RS(4-2)
        """,
        "codes.yaml:2: weak: the loss of D1, D2 does not decode",
        "claim a lower tolerance",
        "codes.yaml:7: a code needs either 'code' or 'parities'",
        "codes.yaml:12: unknown key 'tolerence'; did you mean 'tolerance'?",
        "codes.yaml:11: a code claims no tolerance",
        "codes.yaml:17: '256' is not a coefficient",
        "'0xzz' is not a coefficient",
        "codes.yaml:19: an entry has no 'compact'",
        "codes.yaml:23: unknown code \"RS(4-2)\"");
    refused("codes:\n  - name: x\n    tolerance: 5\n    code: RS(4,2)\n", "must be 1 to 2");
    refused("codez: []\n", "unknown key 'codez'; did you mean 'codes'?");
  }

  @Test
  void aPairOfACodeThatWasRefusedIsNoFurtherProblem() {
    assertThatThrownBy(
            () ->
                parse(
                    """
                    codes:
                      - name: one
                        tolerance: 5
                        code: RS(4,2)
                    pairs:
                      - name: mine
                        fast: one
                        compact: RS(8,2)
                    """))
        .hasMessageContaining("one: a tolerance of 5 is claimed")
        .message()
        .doesNotContain("unknown code");
  }

  private static void refused(String text, String... problems) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOf(ConfigException.class)
        .message()
        .contains(problems);
  }

  @Test
  void aPairThatDoesNotFitIsRefused(@TempDir Path directory) throws Exception {
    Path file = directory.resolve(CodesFile.FILE);
    Files.writeString(file, "pairs:\n  - name: mine\n    fast: RS(6,3)\n    compact: RS(18,3)\n");
    assertThatThrownBy(() -> CodesFile.read(file))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("in pair rs already")
        .hasMessageContaining("under a name of your own");
  }
}
