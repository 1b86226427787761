package io.ebbfs.workloads.traffic;

import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.client.StockProcess.Answer;
import io.ebbfs.workloads.traffic.Workload.File;
import io.ebbfs.workloads.traffic.Workload.Read;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Stores a workload's files through a stock client and reads each at its time. For one thread. */
public final class Replay {
  /** Reads and writes under way at once. A read that is due beyond this number starts late. */
  private static final int MOST_AT_ONCE = 16;

  /**
   * The result of the reads.
   *
   * @param micros the duration of each successful read, sorted
   * @param late the number of reads that started more than a second after their time
   */
  public record Outcome(long[] micros, int wrong, int unreadable, int late, List<String> failures) {
    public Outcome {
      micros = micros.clone();
      failures = List.copyOf(failures);
    }

    /** A percentile of the duration of a read in milliseconds; 0 if none succeeded. */
    public double millis(double percent) {
      if (micros.length == 0) {
        return 0;
      }
      int rank = (int) Math.ceil(percent / 100 * micros.length) - 1;
      return micros[Math.max(0, rank)] / 1000.0;
    }
  }

  private final Workload workload;
  private final StockProcess client;
  private final String target;
  private final long seed;
  private final String[] digests;
  private final Semaphore room = new Semaphore(MOST_AT_ONCE);

  /**
   * @param target the directory in the cluster that takes the files
   */
  public Replay(Workload workload, StockProcess client, String target, long seed) {
    this.workload = workload;
    this.client = client;
    this.target = target;
    this.seed = seed;
    this.digests = new String[workload.files().size()];
  }

  /**
   * Stores every file.
   *
   * @param temporary an existing directory with space for a few files
   * @param progress is told the number of files done, and of all files
   */
  public void store(Path temporary, BiConsumer<Integer, Integer> progress)
      throws IOException, InterruptedException {
    List<CompletableFuture<Void>> open = new ArrayList<>();
    for (int i = 0; i < workload.files().size(); i++) {
      int file = i;
      room.acquire();
      Path local = write(temporary, file);
      open.add(
          client
              .put(local, remote(file))
              .thenAccept(answer -> digests[file] = answer.sha256())
              .whenComplete(
                  (done, failure) -> {
                    local.toFile().delete();
                    room.release();
                  }));
      progress.accept(i + 1, workload.files().size());
    }
    try {
      CompletableFuture.allOf(open.toArray(CompletableFuture[]::new)).join();
    } catch (CompletionException e) {
      throw new IOException("the files could not be stored: " + e.getCause().getMessage(), e);
    }
  }

  private Path write(Path temporary, int index) throws IOException {
    File file = workload.files().get(index);
    Path local = temporary.resolve("file-" + index);
    SplittableRandom random = new SplittableRandom(seed * 1_000_003 + index);
    byte[] buffer = new byte[1 << 16];
    try (OutputStream out = Files.newOutputStream(local)) {
      for (long left = file.bytes(); left > 0; left -= buffer.length) {
        random.nextBytes(buffer);
        out.write(buffer, 0, (int) Math.min(left, buffer.length));
      }
    }
    return local;
  }

  /** The path of a file in the cluster. */
  public String remote(int file) {
    return target + "/" + workload.files().get(file).path();
  }

  /** Reads whole files at their times and compares each with the stored bytes. */
  public Outcome read(BiConsumer<Integer, Integer> progress) throws InterruptedException {
    return run(workload.reads(), client::read, digests, progress);
  }

  /** Opens files at the times of their reads and reads no data. So files become as hot. */
  public Outcome open(BiConsumer<Integer, Integer> progress) throws InterruptedException {
    return run(workload.reads(), client::touch, null, progress);
  }

  /**
   * Reads every file once, as fast as possible, and compares it with the stored bytes.
   *
   * @throws IOException names the first that is wrong or unreadable
   */
  public void verify() throws IOException, InterruptedException {
    List<Read> each = new ArrayList<>();
    for (int file = 0; file < workload.files().size(); file++) {
      each.add(new Read(0, file));
    }
    Outcome outcome = run(each, client::read, digests, (done, of) -> {});
    if (!outcome.failures().isEmpty()) {
      throw new IOException(
          "%d files are wrong, %d unreadable: %s"
              .formatted(outcome.wrong(), outcome.unreadable(), outcome.failures().get(0)));
    }
  }

  private Outcome run(
      List<Read> reads,
      Function<String, CompletableFuture<Answer>> request,
      String[] expected,
      BiConsumer<Integer, Integer> progress)
      throws InterruptedException {
    long start = System.nanoTime();
    List<Long> micros = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    int[] bad = new int[2];
    int late = 0;
    List<CompletableFuture<Void>> open = new ArrayList<>();
    for (int i = 0; i < reads.size(); i++) {
      Read read = reads.get(i);
      TimeUnit.NANOSECONDS.sleep(start + read.atMillis() * 1_000_000 - System.nanoTime());
      room.acquire();
      late += System.nanoTime() - start > (read.atMillis() + 1000) * 1_000_000 ? 1 : 0;
      open.add(
          request
              .apply(remote(read.file()))
              .handle(
                  (answer, failure) -> {
                    room.release();
                    synchronized (micros) {
                      if (failure != null) {
                        bad[1]++;
                        failures.add(remote(read.file()) + ": " + failure.getMessage());
                      } else if (expected != null
                          && !answer.sha256().equals(expected[read.file()])) {
                        bad[0]++;
                        failures.add(remote(read.file()) + ": wrong bytes");
                      } else {
                        micros.add(answer.micros());
                      }
                    }
                    return null;
                  }));
      progress.accept(i + 1, reads.size());
    }
    CompletableFuture.allOf(open.toArray(CompletableFuture[]::new)).join();
    long[] sorted = micros.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(sorted);
    return new Outcome(sorted, bad[0], bad[1], late, failures);
  }
}
