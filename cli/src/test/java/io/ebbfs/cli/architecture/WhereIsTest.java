package io.ebbfs.cli.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The places that {@code docs/where-is.md} names exist. */
class WhereIsTest {
  private static final Pattern PLACE = Pattern.compile("\\[`([^`]+)`]\\(([^)]+)\\)");
  private static final Pattern QUESTION = Pattern.compile("(?m)^\\| (\\d+) \\| [^|]+ \\| (.*)\\|$");

  private final Path docs = SourceTree.root().resolve("docs");

  @Test
  void everyPlaceExistsAndHoldsTheNamedMember() throws IOException {
    for (MatchResult place : ModuleTable.matches(PLACE, text())) {
      Path file = docs.resolve(place.group(2)).normalize();
      assertThat(file).exists();
      String[] label = place.group(1).split("#", 2);
      assertThat(file.getFileName().toString()).as("the file of %s", label[0]).startsWith(label[0]);
      if (label.length == 2) {
        assertThat(Files.readString(file)).as("%s names %s", file, label[1]).contains(label[1]);
      }
    }
  }

  @Test
  void everyQuestionHasANumberAndAPlace() throws IOException {
    List<MatchResult> questions = ModuleTable.matches(QUESTION, text());
    assertThat(questions).hasSizeGreaterThanOrEqualTo(30);
    for (int i = 0; i < questions.size(); i++) {
      assertThat(questions.get(i).group(1)).isEqualTo(String.valueOf(i + 1));
      assertThat(PLACE.matcher(questions.get(i).group(2)).find())
          .as("question %d has a place", i + 1)
          .isTrue();
    }
  }

  private String text() throws IOException {
    return Files.readString(docs.resolve("where-is.md"));
  }
}
