package io.ebbfs.workloads.traffic;

import io.ebbfs.workloads.traffic.Workload.File;
import io.ebbfs.workloads.traffic.Workload.Read;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a recorded trace of jobs in the format of SWIM (Statistical Workload Injector for
 * MapReduce). Each line is a job: job id, submission in seconds, gap to the job before, bytes of
 * map input, shuffle and output, and input path, separated by tabs.
 *
 * @param speed seconds of the trace in one second of the replay
 * @param bytesDivisor the factor by which lengths are divided
 * @param leastBytes the least length of a file after the division
 */
public record SwimTrace(double speed, double bytesDivisor, long leastBytes) {
  private static final int SUBMITTED = 1;
  private static final int INPUT_BYTES = 3;
  private static final int PATH = 6;

  /**
   * Turns each path into a file, whose length is the longest input read from it, and each job into
   * a read of its path.
   *
   * @throws IOException if the file cannot be read, or names the line that is in another format
   */
  public Workload read(Path trace) throws IOException {
    Map<String, Integer> index = new LinkedHashMap<>();
    List<Long> lengths = new ArrayList<>();
    List<Read> reads = new ArrayList<>();
    long last = 0;
    try (BufferedReader lines = Files.newBufferedReader(trace)) {
      int number = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        number++;
        String[] fields = line.split("\t");
        long seconds = number(fields, SUBMITTED, trace, number);
        long bytes = number(fields, INPUT_BYTES, trace, number);
        if (fields.length <= PATH || fields[PATH].isBlank()) {
          throw wrong(trace, number, "it has no input path in column 7");
        }
        int file = index.computeIfAbsent(fields[PATH].strip(), path -> index.size());
        if (file == lengths.size()) {
          lengths.add(0L);
        }
        lengths.set(file, Math.max(lengths.get(file), bytes));
        long at = (long) (seconds * 1000 / speed);
        if (at < last) {
          throw wrong(trace, number, "it was submitted before the line above it");
        }
        last = at;
        reads.add(new Read(at, file));
      }
    }
    if (reads.isEmpty()) {
      throw new IOException(trace + " holds no jobs: give a trace in the format of SWIM");
    }
    List<File> files = new ArrayList<>();
    index.forEach(
        (path, file) ->
            files.add(
                new File(path, Math.max(leastBytes, (long) (lengths.get(file) / bytesDivisor)))));
    return new Workload(trace.getFileName().toString(), files, reads, 1, last + 1);
  }

  private static long number(String[] fields, int column, Path trace, int line) throws IOException {
    try {
      if (column < fields.length && Long.parseLong(fields[column].strip()) >= 0) {
        return Long.parseLong(fields[column].strip());
      }
    } catch (NumberFormatException e) {
      throw wrong(
          trace, line, "'%s' in column %d is no number".formatted(fields[column], column + 1));
    }
    throw wrong(trace, line, "column %d must be a number from 0 on".formatted(column + 1));
  }

  private static IOException wrong(Path trace, int line, String why) {
    return new IOException(
        "%s, line %d: %s; the format is: job, second, gap, input bytes, shuffle bytes, output bytes, input path, with tabs"
            .formatted(trace, line, why));
  }
}
