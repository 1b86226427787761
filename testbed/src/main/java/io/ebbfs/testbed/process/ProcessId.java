package io.ebbfs.testbed.process;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A process of this machine. The start time tells it from a later process with the same pid.
 *
 * @param pid the process id
 * @param startTicks start time in clock ticks since boot: field 22 of /proc/PID/stat
 */
public record ProcessId(long pid, long startTicks) {
  private static final long MICROS_PER_TICK = 10_000;
  private static final Path PROC = Path.of("/proc");
  // Fields after the command, which is in parentheses and may hold anything: state is field 3.
  private static final int STATE = 0;
  private static final int SESSION = 3;
  private static final int USER_TIME = 11;
  private static final int SYSTEM_TIME = 12;
  private static final int START = 19;
  private static final Pattern COMPILER = Pattern.compile("\\(C[12] CompilerThre");

  /** The process that has the pid now; empty if there is none, or it is a zombie. */
  public static Optional<ProcessId> of(long pid) {
    try {
      String[] fields = fields(stat(pid));
      boolean ended = fields[STATE].equals("X") || fields[STATE].equals("Z") && !hasThreads(pid);
      return ended
          ? Optional.empty()
          : Optional.of(new ProcessId(pid, Long.parseLong(fields[START])));
    } catch (IOException | java.io.UncheckedIOException e) {
      return Optional.empty();
    }
  }

  private static String stat(long pid) throws IOException {
    return Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
  }

  private static String[] fields(String stat) {
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
  }

  /**
   * Whether setsid has replaced itself by the command that it starts: the process leads a session
   * of its own and is no longer called setsid. Once true, it stays true.
   */
  boolean hasReplacedSetsid() {
    try {
      String stat = stat(pid);
      return fields(stat)[SESSION].equals(String.valueOf(pid)) && !stat.contains(" (setsid) ");
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Whether a process has threads besides its first. The first thread may be a zombie while other
   * threads, and with them the process's sockets, are still there.
   */
  private static boolean hasThreads(long pid) throws IOException {
    try (Stream<Path> threads = Files.list(PROC.resolve(pid + "/task"))) {
      return threads.count() > 1;
    }
  }

  /** Whether this very process still runs. */
  public boolean isAlive() {
    return of(pid).filter(this::equals).isPresent();
  }

  /** Sends SIGTERM, or SIGKILL if forced, unless the process has ended. */
  public void signal(boolean force) {
    if (isAlive()) {
      ProcessHandle.of(pid).ifPresent(p -> kill(p, force));
    }
  }

  private static void kill(ProcessHandle process, boolean force) {
    boolean sent = force ? process.destroyForcibly() : process.destroy();
    if (!sent && process.isAlive()) {
      throw new IllegalStateException(
          "process " + process.pid() + " takes no signal: it belongs to another user");
    }
  }

  /** Stalls the process, as a machine that hangs does, or lets it go on. */
  public void stall(boolean stalled) throws ClusterException, InterruptedException {
    signal(stalled ? "-STOP" : "-CONT");
  }

  /** Has a JVM print what its threads do. Any other process would end. */
  public void dumpThreads() throws ClusterException, InterruptedException {
    signal("-QUIT");
  }

  private void signal(String signal) throws ClusterException, InterruptedException {
    try {
      int code = new ProcessBuilder("kill", signal, Long.toString(pid)).start().waitFor();
      if (code != 0 && isAlive()) {
        throw new ClusterException(
            "process %d takes no signal: it belongs to another user".formatted(pid));
      }
    } catch (IOException e) {
      throw new ClusterException("'kill' could not be run: install procps (" + e + ")", e);
    }
  }

  /** Waits until the process has ended. Returns false if it still runs after this time. */
  public boolean awaitEnd(long timeoutMillis) throws InterruptedException {
    return ConditionWaiter.within(timeoutMillis)
        .every(10)
        .objection(() -> isAlive() ? "alive" : null)
        .isEmpty();
  }

  /** Resident memory in bytes; 0 if the process has ended. */
  public long residentBytes() {
    try (Stream<String> lines = Files.lines(PROC.resolve(pid + "/status"))) {
      return lines
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
          .findFirst()
          .orElse(0);
    } catch (IOException | java.io.UncheckedIOException e) {
      return 0;
    }
  }

  /** Processor time of all threads so far, in microseconds, in steps of a tick (10 ms). */
  public long cpuMicros() throws IOException {
    return cpuMicros(stat(pid));
  }

  private static long cpuMicros(String stat) {
    String[] fields = fields(stat);
    return (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME]))
        * MICROS_PER_TICK;
  }

  /**
   * The part of the processor time that the compilers of a JVM have used, in microseconds. Threads
   * that have ended are not in it, so the JVM should keep its compiler threads ({@code
   * -XX:-UseDynamicNumberOfCompilerThreads}).
   */
  public long compilerMicros() throws IOException {
    long sum = 0;
    try (Stream<Path> threads = Files.list(PROC.resolve(pid + "/task"))) {
      for (Path thread : (Iterable<Path>) threads::iterator) {
        try {
          String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
          sum += COMPILER.matcher(stat).find() ? cpuMicros(stat) : 0;
        } catch (IOException e) {
          if (Files.exists(thread)) { // else the thread has ended
            throw e;
          }
        }
      }
    }
    return sum;
  }

  /** All processes of this user whose environment holds the variable with the value. */
  static List<ProcessId> withEnvironment(String name, String value) throws IOException {
    List<ProcessId> found = new ArrayList<>();
    try (Stream<Path> entries = Files.list(PROC)) {
      for (Path entry : (Iterable<Path>) entries::iterator) {
        String pid = entry.getFileName().toString();
        if (pid.chars().allMatch(Character::isDigit)) {
          of(Long.parseLong(pid)).filter(p -> p.hasEnvironment(name, value)).ifPresent(found::add);
        }
      }
    }
    return found;
  }

  /** The value of a variable of its environment; empty if it has none, or ended. */
  Optional<String> environment(String name) {
    return environment(PROC.resolve(String.valueOf(pid))).stream()
        .filter(variable -> variable.startsWith(name + "="))
        .map(variable -> variable.substring(name.length() + 1))
        .findFirst();
  }

  boolean hasEnvironment(String name, String value) {
    return environment(PROC.resolve(String.valueOf(pid))).contains(name + "=" + value);
  }

  private static List<String> environment(Path process) {
    try {
      byte[] bytes = Files.readAllBytes(process.resolve("environ"));
      return Arrays.asList(new String(bytes, StandardCharsets.UTF_8).split("\0"));
    } catch (IOException e) {
      return List.of();
    }
  }
}
