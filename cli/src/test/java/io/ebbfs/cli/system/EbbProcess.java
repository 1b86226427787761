package io.ebbfs.cli.system;

import io.ebbfs.testbed.Build;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Commands in processes of their own, as the launcher starts them. */
final class EbbProcess {
  private EbbProcess() {}

  /** Starts a command; standard output and error go to the log. */
  static Process start(Path log, List<String> words) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-cp"));
    command.add(Build.find().classPath("cli"));
    command.add("io.ebbfs.cli.Ebb");
    command.addAll(words);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  /** Command lines of running processes that name a directory. */
  static List<String> processesBelow(Path directory) throws Exception {
    List<String> found = new ArrayList<>();
    try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
      for (Path entry : (Iterable<Path>) entries::iterator) {
        if (entry.getFileName().toString().chars().allMatch(Character::isDigit)) {
          String command = commandLine(entry);
          if (command.contains(directory.toString())) {
            found.add(command);
          }
        }
      }
    }
    return found;
  }

  private static String commandLine(Path process) {
    try {
      return Files.readString(process.resolve("cmdline")).replace('\0', ' ');
    } catch (java.io.IOException e) {
      return ""; // it has ended meanwhile
    }
  }
}
