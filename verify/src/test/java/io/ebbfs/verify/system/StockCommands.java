package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.ToolProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands of {@code docs/stock-commands.md}, and how each ends by that page. */
final class StockCommands {
  private static final Pattern ROW =
      Pattern.compile(
          "\\| `(?<command>[^`]+)` \\| (?<here>works|differs|refused) \\| (?<says>.*)\\|");
  private static final int LEAST = 80;

  private record Row(String command, String here, String says) {}

  private final List<Row> rows = new ArrayList<>();

  private StockCommands() {}

  /** Reads the page up to the commands that are not run. */
  static StockCommands read(Path page) throws IOException {
    StockCommands commands = new StockCommands();
    for (String line : Files.readAllLines(page)) {
      Matcher row = ROW.matcher(line);
      if (line.startsWith("## What the test does not run")) {
        break;
      }
      if (row.matches()) {
        commands.rows.add(
            new Row(row.group("command"), row.group("here"), row.group("says").strip()));
      }
    }
    assertThat(commands.rows).as("commands of %s", page).hasSizeGreaterThan(LEAST);
    return commands;
  }

  /**
   * Runs the commands in their order, and returns those that end otherwise.
   *
   * @param meanings what words of the page stand for
   */
  List<String> endOtherwise(ToolProcess tool, Map<String, String> meanings)
      throws ExecutionException, IOException, InterruptedException {
    List<String> wrong = new ArrayList<>();
    for (Row row : rows) {
      List<String> words =
          Arrays.stream(row.command().split(" ")).map(word -> meant(word, meanings)).toList();
      if (words.contains("verifyEC")) {
        awaitWholeGroups(tool);
      }
      List<String> answer =
          tool.request(words.get(0), words.subList(1, words.size()).toArray(String[]::new)).get();
      boolean ended = answer.get(0).equals("0");
      boolean right =
          row.here().equals("refused") ? !ended && answer.get(1).contains(row.says()) : ended;
      if (!right) {
        wrong.add("%s ends with %s: %s".formatted(row.command(), answer.get(0), answer.get(1)));
      }
    }
    return wrong;
  }

  /** A writer closes a group before the servers of all its blocks have reported them. */
  private static void awaitWholeGroups(ToolProcess tool)
      throws ExecutionException, IOException, InterruptedException {
    ConditionWaiter.within(60_000)
        .until(
            "no block group lacks a block",
            () -> {
              String sums = tool.request("fsck", "/stock").get().get(1);
              return sums.matches("(?s).*Under-erasure-coded block groups:\\s+0 .*") ? null : sums;
            });
  }

  private static String meant(String word, Map<String, String> meanings) {
    String meant = word;
    for (Map.Entry<String, String> meaning : meanings.entrySet()) {
      meant = meant.replace(meaning.getKey(), meaning.getValue());
    }
    return meant;
  }
}
