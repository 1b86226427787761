package io.ebbfs.testbed.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * What processes have used since they started, with their children that have ended.
 *
 * @param userMicros processor time in user mode, in steps of a tick (10 ms)
 * @param systemMicros processor time in the kernel, likewise
 * @param readCalls system calls that read files or pipes: {@code syscr} of /proc/PID/io. The kernel
 *     counts no {@code recv}.
 * @param writeCalls system calls that write files or pipes: {@code syscw}. The kernel counts {@code
 *     sendfile} as both, and no {@code send}.
 */
public record ProcessUsage(long userMicros, long systemMicros, long readCalls, long writeCalls) {
  public static final ProcessUsage NONE = new ProcessUsage(0, 0, 0, 0);

  private static final long MICROS_PER_TICK = 10_000;
  // Fields behind the command: utime, stime, and those of the children.
  private static final int USER = 11;
  private static final int SYSTEM = 12;
  private static final int USER_OF_CHILDREN = 13;
  private static final int SYSTEM_OF_CHILDREN = 14;

  /** The sum over processes. A process that has ended counts as nothing. */
  public static ProcessUsage of(List<ProcessId> processes) throws IOException {
    ProcessUsage sum = NONE;
    for (ProcessId process : processes) {
      sum = sum.plus(of(process));
    }
    return sum;
  }

  private static ProcessUsage of(ProcessId process) throws IOException {
    if (!process.isAlive()) {
      return NONE;
    }
    Path directory = Path.of("/proc", Long.toString(process.pid()));
    try {
      return parse(
          Files.readString(directory.resolve("stat"), StandardCharsets.ISO_8859_1),
          Files.readString(directory.resolve("io")));
    } catch (NoSuchFileException e) {
      return NONE;
    }
  }

  static ProcessUsage parse(String stat, String io) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return new ProcessUsage(
        micros(fields, USER) + micros(fields, USER_OF_CHILDREN),
        micros(fields, SYSTEM) + micros(fields, SYSTEM_OF_CHILDREN),
        line(io, "syscr: "),
        line(io, "syscw: "));
  }

  private static long micros(String[] fields, int field) {
    return Long.parseLong(fields[field]) * MICROS_PER_TICK;
  }

  private static long line(String io, String name) {
    return io.lines()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.substring(name.length()).strip()))
        .findFirst()
        .orElse(0);
  }

  public ProcessUsage plus(ProcessUsage other) {
    return new ProcessUsage(
        userMicros + other.userMicros,
        systemMicros + other.systemMicros,
        readCalls + other.readCalls,
        writeCalls + other.writeCalls);
  }

  public ProcessUsage minus(ProcessUsage other) {
    return new ProcessUsage(
        userMicros - other.userMicros,
        systemMicros - other.systemMicros,
        readCalls - other.readCalls,
        writeCalls - other.writeCalls);
  }

  public double cpuSeconds() {
    return (userMicros + systemMicros) / 1e6;
  }
}
