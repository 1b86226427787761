package io.ebbfs.verify.system;

import io.ebbfs.testbed.client.ToolProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Random commands of the file system shell, which run on two file systems in turn. What they print
 * is compared without times and addresses, and so are the local files that they write. All names
 * are ASCII, because HDFS lists others first.
 */
final class ShellSequences {
  private static final Pattern TIME =
      Pattern.compile("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d(:\\d\\d)?");
  private static final Pattern ADDRESS = Pattern.compile("hdfs://[A-Za-z0-9.]+:\\d+");
  private static final Pattern LONG_TIME = Pattern.compile("\\b1\\d{12}\\b");

  /** HDFS's namenode tells the path twice if a list of access control is refused. */
  private static final Pattern PATH_TWICE = Pattern.compile("( Path: [^ \n]*)\\1");

  private static final Pattern USAGE = Pattern.compile("(?s)Usage: .*");

  /** The capacity of the two clusters differs. */
  private static final Pattern CAPACITY = Pattern.compile("[0-9.]+( [KMGTPE])?%?\\b|%| +");

  /** Stands for the directory of the local files that a shell writes. */
  private static final String OUT = "OUT";

  /** Before 2001, so that {@link #LONG_TIME} does not hide it. */
  private static final String LONG_AGO = "20000101:120000";

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
  private static final List<String> VALUES =
      List.of("text", "\"in quotes\"", "0x4142", "0sSGVsbG8=", "");

  /** A file system shell: its exit code and what it prints. */
  interface Shell {
    List<String> run(String... command) throws ExecutionException, InterruptedException;
  }

  private final Random random;
  private final String local;
  private final String root;
  private final Path theirFiles;
  private final Path ourFiles;
  private int succeeded;

  /**
   * @param local a local directory with the files {@code small}, {@code large} and {@code empty}
   * @param root the directory that the commands work in
   */
  ShellSequences(long seed, String local, String root) throws IOException {
    this.random = new Random(seed);
    this.local = local;
    this.root = root;
    this.theirFiles = Files.createDirectories(Path.of(local, "theirs" + root));
    this.ourFiles = Files.createDirectories(Path.of(local, "ours" + root));
  }

  /** Runs commands, and returns where the two answer differently. */
  List<String> differences(ToolProcess hdfs, Shell ours, int commands)
      throws ExecutionException, InterruptedException, IOException {
    List<String> different = new ArrayList<>();
    for (String[] command : firstCommands()) {
      compare(hdfs, ours, command, different);
    }
    for (int i = 0; i < commands; i++) {
      compare(hdfs, ours, command(), different);
    }
    return different;
  }

  /** How many commands have ended without an error on HDFS. */
  int succeeded() {
    return succeeded;
  }

  private void compare(ToolProcess hdfs, Shell ours, String[] command, List<String> different)
      throws ExecutionException, InterruptedException, IOException {
    var theirAnswer = hdfs.request("dfs", writingTo(theirFiles, command));
    String actual = shown(command, ours.run(writingTo(ourFiles, command)));
    String expected = shown(command, theirAnswer.get());
    if (Arrays.toString(command).contains(OUT)) {
      actual += contents(ourFiles);
      expected += contents(theirFiles);
    }
    if (theirAnswer.get().get(0).equals("0")) {
      succeeded++;
    }
    if (!actual.equals(expected)) {
      different.add(
          "%s\n  HDFS: %s\n  EbbFS: %s".formatted(String.join(" ", command), expected, actual));
    }
  }

  private static String[] writingTo(Path files, String[] command) {
    return Arrays.stream(command)
        .map(word -> word.startsWith(OUT) ? files + word.substring(OUT.length()) : word)
        .toArray(String[]::new);
  }

  /** The bytes of each file below a directory; HDFS's client writes checksums beside some. */
  private static Map<String, String> contents(Path directory) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.filter(one -> !one.toString().endsWith(".crc")).toList()) {
        contents.put(
            directory.relativize(path).toString(),
            Files.isDirectory(path) ? "a directory" : digest(Files.readAllBytes(path)));
      }
    }
    return contents;
  }

  private static String digest(byte[] bytes) {
    return bytes.length + " bytes, " + HexFormat.of().toHexDigits(Arrays.hashCode(bytes));
  }

  private String shown(String[] command, List<String> answer) {
    String text = TIME.matcher(answer.get(1)).replaceAll("TIME");
    text = text.replace(theirFiles.toString(), OUT).replace(ourFiles.toString(), OUT);
    text = ADDRESS.matcher(text).replaceAll("CLUSTER");
    if (command[0].equals("-df")) {
      text = CAPACITY.matcher(text).replaceAll(" ");
    }
    text = LONG_TIME.matcher(text).replaceAll("MILLIS");
    text = USAGE.matcher(text).replaceAll("USAGE");
    text = PATH_TWICE.matcher(text).replaceAll("$1");
    // The code of a process is a byte.
    return (Integer.parseInt(answer.get(0)) & 0xFF) + ": " + text;
  }

  private String path() {
    return path(NAMES);
  }

  /** A path without a pattern. */
  private String plainPath() {
    return path(NAMES.stream().filter(name -> !name.equals("*")).toList());
  }

  private String path(List<String> names) {
    StringBuilder path = new StringBuilder(root);
    for (int depth = random.nextInt(4); depth > 0; depth--) {
      path.append('/').append(any(names));
    }
    return path.toString();
  }

  private String file() {
    return local + "/" + any(List.of("small", "large", "empty", "missing"));
  }

  private <T> T any(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  /** Without them, most of the random commands would find nothing. */
  private List<String[]> firstCommands() {
    return List.of(
        words("-mkdir", "-p", root + "/a/b", root + "/c/a"),
        words("-put", local + "/small", root + "/a/c"),
        words("-put", local + "/large", root + "/b"),
        words("-put", local + "/empty", root + "/a/b/a"));
  }

  private String[] command() {
    return switch (random.nextInt(38)) {
      case 0, 1, 2 -> words("-put", any(List.of("-f", "-p")), file(), path());
      case 3, 4 -> words("-mkdir", any(List.of("-p", "-p", "-v")), path(), path());
      case 5 -> words("-mv", path(), path());
      case 6 -> words("-cp", any(List.of("-f", "-p")), path(), path());
      case 7 -> words("-rm", any(List.of("-r", "-f", "-skipTrash")), path());
      case 8 -> words("-ls", any(List.of("-R", "-d", "-C")), path());
      case 9 -> words("-cat", path(), path());
      case 10 -> words("-stat", any(List.of("%F %a %n %b %o %r", "%u:%g", "%Y")), path());
      case 11 -> words("-count", any(List.of("-q", "-v", "-u", "-h")), path());
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
      case 24 -> words(any(List.of("-getfattr", "-setfattr")), "-n", "user.x", path());
      case 25, 26 -> words("-setfattr", "-n", "user.x", "-v", any(VALUES), path());
      case 27 -> words("-setfattr", "-x", "user.x", path());
      case 28 -> words("-getfattr", "-R", "-d", path());
      case 29 -> words("-getfattr", "-R", "-n", "user.x", path());
      case 30 -> words("-getfattr", "-d", "-e", any(List.of("text", "hex", "base64", "x")), path());
      case 31 -> words("-touch", any(List.of("-m", "-a", "-c")), "-t", LONG_AGO, path());
      case 32 -> words("-touch", any(List.of("-m", "-a", "-c")), path());
      case 33 -> words("-text", path());
      case 34 -> chown(any(List.of("ann", "bob:g", ":g", "a b")));
      case 35 ->
          words(
              "-get",
              any(List.of("-f", "-f", "-ignoreCrc")),
              path(),
              OUT + any(List.of("", "/a", "/b")));
      case 36 ->
          words(
              "-getmerge",
              any(List.of("-nl", "-skip-empty-file")),
              plainPath(),
              plainPath(),
              OUT + "/merged");
      default -> words("-df", any(List.of("-h", root)), path());
    };
  }

  private String[] chown(String owner) {
    return random.nextBoolean()
        ? words("-chown", "-R", owner, path())
        : words("-chown", owner, path());
  }

  private static String[] words(String... words) {
    return words;
  }
}
