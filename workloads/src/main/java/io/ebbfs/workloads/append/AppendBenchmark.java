package io.ebbfs.workloads.append;

import io.ebbfs.client.AppendOptions;
import io.ebbfs.client.RecordAppender;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Compares writers who append records to one file with as many stock writers who write a file each,
 * in turns. A run ends when all bytes are readable.
 */
public final class AppendBenchmark {
  public static final int MOST_RECORD_BYTES = AppendOptions.MOST_RECORD_BYTES;
  public static final int MOST_LANES = AppendOptions.MOST_LANES;

  private static final Path DIRECTORY = new Path("/append-benchmark");
  private static final double MEBIBYTE = 1 << 20;

  private final DistributedFileSystem files;
  private final Options options;
  private final PrintStream out;

  /**
   * What is measured.
   *
   * @param writers how many write at once
   * @param recordBytes the length of each record
   * @param records how many records each writer writes
   * @param lanes lanes of the one file
   */
  public record Options(int writers, int recordBytes, int records, int lanes, int rounds) {}

  public AppendBenchmark(DistributedFileSystem files, Options options, PrintStream out) {
    this.files = files;
    this.options = options;
    this.out = out;
  }

  /** Returns the median throughput of the one file, as a part of that of the many files. */
  public double run() throws IOException, InterruptedException {
    double[] many = new double[options.rounds];
    double[] one = new double[options.rounds];
    for (int round = 0; round < options.rounds; round++) {
      many[round] = measure(this::writeFile);
      one[round] = measure(this::appendRecords);
      out.printf(
          "round %d: %d files %.1f MiB/s, one file %.1f MiB/s%n",
          round + 1, options.writers, many[round], one[round]);
    }
    double ratio = median(one) / median(many);
    out.printf(
        "%d writers, %,d records of %,d bytes each: %d files %.1f MiB/s, one file with %d lanes %.1f"
            + " MiB/s (medians), ratio %.2f%n",
        options.writers,
        options.records,
        options.recordBytes,
        options.writers,
        median(many),
        options.lanes,
        median(one),
        ratio);
    return ratio;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private interface Writer {
    void write(int number) throws IOException;
  }

  /** Mebibytes a second of all writers together. */
  private double measure(Writer writer) throws IOException, InterruptedException {
    files.delete(DIRECTORY, true);
    files.mkdirs(DIRECTORY);
    long begin = System.nanoTime();
    runAll(writer);
    long bytes = (long) options.writers * options.records * options.recordBytes;
    if (files.exists(oneFile())) {
      RecordAppender.finish(files, oneFile());
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    long readable = files.getContentSummary(DIRECTORY).getLength();
    if (readable != bytes) {
      throw new IOException("%,d bytes were written, %,d are readable".formatted(bytes, readable));
    }
    files.delete(DIRECTORY, true);
    return bytes / MEBIBYTE / seconds;
  }

  private void runAll(Writer writer) throws IOException, InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(options.writers);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < options.writers; i++) {
        int number = i;
        running.add(
            threads.submit(
                () -> {
                  writer.write(number);
                  return null;
                }));
      }
      for (Future<?> one : running) {
        one.get();
      }
    } catch (ExecutionException failure) {
      throw new IOException("a writer failed: " + failure.getCause(), failure.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private byte[] record(int writer) {
    byte[] record = new byte[options.recordBytes];
    new Random(writer).nextBytes(record);
    return record;
  }

  private void writeFile(int writer) throws IOException {
    byte[] record = record(writer);
    try (FSDataOutputStream file = files.create(new Path(DIRECTORY, "file" + writer))) {
      for (int i = 0; i < options.records; i++) {
        file.write(record);
      }
    }
  }

  private static Path oneFile() {
    return new Path(DIRECTORY, "one");
  }

  private void appendRecords(int writer) throws IOException {
    byte[] record = record(writer);
    try (RecordAppender file =
        RecordAppender.open(files, oneFile(), AppendOptions.DEFAULT.withLanes(options.lanes))) {
      for (int i = 0; i < options.records; i++) {
        file.append(record);
      }
    }
  }
}
