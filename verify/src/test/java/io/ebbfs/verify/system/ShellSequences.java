package io.ebbfs.verify.system;

import io.ebbfs.testbed.client.ToolProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;

/**
 * Random commands of the file system shell, which run on two file systems in turn. What they print
 * is compared without times and addresses. All names are ASCII, because HDFS lists others first.
 */
final class ShellSequences {
  private static final Pattern TIME =
      Pattern.compile("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d(:\\d\\d)?");
  private static final Pattern ADDRESS = Pattern.compile("hdfs://[A-Za-z0-9.]+:\\d+");
  private static final Pattern LONG_TIME = Pattern.compile("\\b1\\d{12}\\b");

  /** HDFS's namenode tells the path twice if a list of access control is refused. */
  private static final Pattern PATH_TWICE = Pattern.compile("( Path: [^ \n]*)\\1");

  private static final Pattern USAGE = Pattern.compile("(?s)Usage: .*");
  private static final List<String> NAMES = List.of("a", "b", "c", "long name", "*", "B_1");
  private static final List<String> MODES =
      List.of("700", "644", "u+x", "o-r", "1777", "a=rw", "9", "u+t", "o=rx", "+t", "g+X");
  private static final List<String> ENTRIES =
      List.of(
          "user:ann:rwx",
          "default:user:ann:r-x",
          "mask::r--,group:staff:-w-",
          "user::rwx,group::r-x,other::---",
          "user:ann",
          "user::x");

  /** A file system shell: its exit code and what it prints. */
  interface Shell {
    List<String> run(String... command) throws ExecutionException, InterruptedException;
  }

  private final Random random;
  private final String local;
  private final String root;

  /**
   * @param local a local directory with the files {@code small}, {@code large} and {@code empty}
   * @param root the directory that the commands work in
   */
  ShellSequences(long seed, String local, String root) {
    this.random = new Random(seed);
    this.local = local;
    this.root = root;
  }

  /** Runs commands, and returns where the two answer differently. */
  List<String> differences(ToolProcess hdfs, Shell ours, int commands)
      throws ExecutionException, InterruptedException {
    List<String> different = new ArrayList<>();
    for (int i = 0; i < commands; i++) {
      String[] command = command();
      var theirAnswer = hdfs.request("dfs", command);
      String actual = shown(ours.run(command));
      String expected = shown(theirAnswer.get());
      if (!actual.equals(expected)) {
        different.add(
            "%s\n  HDFS: %s\n  EbbFS: %s".formatted(String.join(" ", command), expected, actual));
      }
    }
    return different;
  }

  private static String shown(List<String> answer) {
    String text = TIME.matcher(answer.get(1)).replaceAll("TIME");
    text = LONG_TIME.matcher(text).replaceAll("MILLIS");
    text = USAGE.matcher(text).replaceAll("USAGE");
    text = PATH_TWICE.matcher(text).replaceAll("$1");
    // The code of a process is a byte.
    return (Integer.parseInt(answer.get(0)) & 0xFF)
        + ": "
        + ADDRESS.matcher(text).replaceAll("CLUSTER");
  }

  private String path() {
    StringBuilder path = new StringBuilder(root);
    for (int depth = random.nextInt(4); depth > 0; depth--) {
      path.append('/').append(any(NAMES));
    }
    return path.toString();
  }

  private String file() {
    return local + "/" + any(List.of("small", "large", "empty", "missing"));
  }

  private <T> T any(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  private String[] command() {
    return switch (random.nextInt(25)) {
      case 0, 1, 2 -> words("-put", any(List.of("-f", "-p")), file(), path());
      case 3, 4 -> words("-mkdir", any(List.of("-p", "-p", "-v")), path(), path());
      case 5 -> words("-mv", path(), path());
      case 6 -> words("-cp", any(List.of("-f", "-p")), path(), path());
      case 7 -> words("-rm", any(List.of("-r", "-f", "-skipTrash")), path());
      case 8 -> words("-ls", any(List.of("-R", "-d", "-C")), path());
      case 9 -> words("-cat", path(), path());
      case 10 -> words("-stat", any(List.of("%F %a %n %b %o %r", "%u:%g")), path());
      case 11 -> words("-count", any(List.of("-q", "-v", "-u")), path());
      case 12 -> words("-du", any(List.of("-s", "-h", "-v")), path());
      case 13 -> words("-chmod", any(List.of("-R", "-R", any(MODES))), any(MODES), path());
      case 14 -> words("-test", any(List.of("-e", "-d", "-f", "-z", "-s", "-w")), path());
      case 15 -> words("-setrep", any(List.of("1", "2", "0", "x")), path());
      case 16 -> words("-appendToFile", file(), path());
      case 17 -> words(any(List.of("-touchz", "-rmdir", "-head", "-tail", "-checksum")), path());
      case 18 -> words("-find", path(), any(List.of("-name", "-iname", "-print")), any(NAMES));
      case 19 -> words("-setfacl", any(List.of("-m", "-x", "--set", "-R")), any(ENTRIES), path());
      case 20 -> words("-setfacl", any(List.of("-b", "-k")), path());
      case 21 -> words("-getfacl", path());
      case 22 -> words("-truncate", any(List.of("0", "-1", "x", "999999")), path());
      case 23 -> words("-concat", path(), path(), path());
      default -> words(any(List.of("-getfattr", "-setfattr")), "-n", "user.x", path());
    };
  }

  private static String[] words(String... words) {
    return words;
  }
}
