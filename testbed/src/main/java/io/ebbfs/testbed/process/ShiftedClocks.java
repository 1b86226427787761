package io.ebbfs.testbed.process;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Wall clocks of processes that can be shifted while the processes run, by Debian's libfaketime.
 * The steady clock of a process is never shifted, as in a step of NTP. A process has such a clock
 * if the directory exists when the process starts.
 *
 * @param directory holds one file for each process: its shift in seconds, such as "+3600"
 */
public record ShiftedClocks(Path directory) {
  private static final List<Path> LIBRARIES =
      List.of(
          Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"),
          Path.of("/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"));
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  /** Whether libfaketime is installed. */
  public static boolean isPossible() {
    return library().isPresent();
  }

  /** Processes that start from now on have clocks that can be shifted. */
  public void enable() throws IOException {
    Files.createDirectories(directory);
  }

  /**
   * Shifts the wall clock of a process, within two seconds.
   *
   * @param name of the process, for example "server-3"
   * @param seconds how far the clock is ahead of the true time; negative if behind
   */
  public void shift(String name, long seconds) throws IOException {
    Files.writeString(directory.resolve(name), "%+d%n".formatted(seconds));
  }

  /** Adds what a process needs to its environment. Does nothing unless the clocks are enabled. */
  void addTo(Map<String, String> environment, String name) throws IOException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    shift(name, 0);
    environment.put("LD_PRELOAD", library().orElseThrow().toString());
    environment.put("FAKETIME_TIMESTAMP_FILE", directory.resolve(name).toString());
    environment.put("FAKETIME_CACHE_DURATION", "1");
    environment.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    // Timed waits of the JVM go by the steady clock; the library's correction would end them at
    // once.
    environment.put("FAKETIME_FORCE_MONOTONIC_FIX", "0");
    environment.put("NO_FAKE_STAT", "1");
  }

  private static Optional<Path> library() {
    return LIBRARIES.stream().filter(Files::exists).findFirst();
  }

  /** Removes the shared memory that the library left of processes that were killed. */
  public static void removeLeftovers() throws IOException {
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(SHARED_MEMORY, "{faketime_shm_,sem.faketime_sem_}*")) {
      for (Path file : left) {
        String name = file.getFileName().toString();
        long pid = Long.parseLong(name.substring(name.lastIndexOf('_') + 1));
        if (ProcessHandle.of(pid).isEmpty()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
