package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.tools.CacheAdmin;
import org.apache.hadoop.hdfs.tools.CryptoAdmin;
import org.apache.hadoop.hdfs.tools.DFSAdmin;
import org.apache.hadoop.hdfs.tools.DebugAdmin;
import org.apache.hadoop.hdfs.tools.ECAdmin;
import org.apache.hadoop.hdfs.tools.StoragePolicyAdmin;
import org.junit.jupiter.api.Test;

/** {@code docs/stock-commands.md} names each word of the stock tools of administrators. */
class StockCommandsPageTest {
  private static final Pattern COMMAND = Pattern.compile("`([^`]+)`");
  private static final Pattern WORD = Pattern.compile("(?m)^\t\\[(-\\w+)(.*)$");
  private static final Pattern OPTION = Pattern.compile("\\[(-\\w+)");

  private static List<String> commands() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "stock-commands.md"));
    return COMMAND.matcher(page).results().map(found -> found.group(1)).toList();
  }

  /** Whether a command of the page has this word and this option. */
  private static boolean has(List<String> commands, String tool, String word, String option) {
    return commands.stream()
        .map(command -> command + " ")
        .anyMatch(
            command ->
                command.startsWith(tool + " " + word + " ") && command.contains(option + " "));
  }

  @Test
  void thePageHasEachWordAndOptionOfDfsadmin() throws Exception {
    List<String> commands = commands();
    List<String> missing = new ArrayList<>();
    List<MatchResult> words = WORD.matcher(usage()).results().toList();
    assertThat(words).as("words of dfsadmin: %s", usage()).hasSizeGreaterThan(30);
    for (MatchResult usage : words) {
      String word = usage.group(1);
      if (!has(commands, "dfsadmin", word, "")) {
        missing.add(word);
      }
      OPTION
          .matcher(usage.group(2))
          .results()
          .map(option -> option.group(1))
          .filter(option -> !has(commands, "dfsadmin", word, option))
          .forEach(option -> missing.add(word + " " + option));
    }
    assertThat(missing).as("words of dfsadmin without a row").isEmpty();
  }

  /** What {@code hdfs dfsadmin} prints without a word. */
  private static String usage() throws ReflectiveOperationException {
    Field summary = DFSAdmin.class.getDeclaredField("commonUsageSummary");
    summary.setAccessible(true);
    return (String) summary.get(null);
  }

  @Test
  void thePageHasEachWordOfTheOtherTools() throws Exception {
    List<String> missing = new ArrayList<>();
    missing.addAll(missing("ec", words(ECAdmin.class)));
    missing.addAll(missing("cacheadmin", words(CacheAdmin.class)));
    missing.addAll(missing("crypto", words(CryptoAdmin.class)));
    missing.addAll(missing("storagepolicies", words(StoragePolicyAdmin.class)));
    missing.addAll(missing("debug", wordsOfDebug()));
    assertThat(missing).as("words without a row").isEmpty();
  }

  private static List<String> missing(String tool, List<String> words) throws IOException {
    List<String> commands = commands();
    assertThat(words).as("words of %s", tool).hasSizeGreaterThan(3);
    return words.stream()
        .filter(word -> !has(commands, tool, word, ""))
        .map(word -> tool + " " + word)
        .toList();
  }

  private static List<String> words(Class<?> tool) throws ReflectiveOperationException {
    Field commands = tool.getDeclaredField("COMMANDS");
    commands.setAccessible(true);
    List<String> words = new ArrayList<>();
    for (Object command : (Object[]) commands.get(null)) {
      Method name = command.getClass().getMethod("getName");
      name.setAccessible(true);
      words.add((String) name.invoke(command));
    }
    return words;
  }

  /** Without {@code help}, which asks no server. */
  private static List<String> wordsOfDebug() throws ReflectiveOperationException {
    Field commands = DebugAdmin.class.getDeclaredField("DEBUG_COMMANDS");
    commands.setAccessible(true);
    List<String> words = new ArrayList<>();
    for (Object command : (Object[]) commands.get(new DebugAdmin(new Configuration()))) {
      Field name = command.getClass().getSuperclass().getDeclaredField("name");
      name.setAccessible(true);
      words.add((String) name.get(command));
    }
    words.remove("help");
    return words;
  }
}
