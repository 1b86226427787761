package io.ebbfs.cli.system;

import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A stock client that writes and renames files and reads earlier ones again, many times a second.
 * It notes how long each call took and which one failed.
 */
final class SteadyClient implements AutoCloseable {
  private static final int FILE_BYTES = 100_000;
  private static final long STOP_MILLIS = 60_000;
  private static final long PAUSE_MILLIS = 50;

  private final FileSystem files;
  private final List<Integer> written = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
  private final AtomicLong longestMillis = new AtomicLong();
  private final AtomicInteger calls = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  /**
   * What happened.
   *
   * @param files the files that were written
   * @param calls the calls that ended
   * @param longestCallMillis the time of the longest call, with its retries
   * @param failures the calls that failed in the end
   */
  record Account(int files, int calls, long longestCallMillis, List<String> failures) {}

  private interface Call {
    void run() throws IOException;
  }

  private SteadyClient(FileSystem files) {
    this.files = files;
  }

  static SteadyClient start(Map<String, String> settings) throws IOException {
    Configuration configuration = new Configuration();
    settings.forEach(configuration::set);
    SteadyClient client =
        new SteadyClient(
            FileSystem.newInstance(URI.create(settings.get("fs.defaultFS")), configuration));
    client.run("writer", client::write);
    client.run("reader", client::read);
    return client;
  }

  private void run(String name, Runnable loop) {
    Thread thread = new Thread(loop, name);
    thread.setDaemon(true);
    thread.start();
    threads.add(thread);
  }

  private static byte[] content(int number) {
    byte[] content = new byte[FILE_BYTES + number];
    new Random(number).nextBytes(content);
    return content;
  }

  private static Path path(int number) {
    return new Path("/files/" + number);
  }

  private void write() {
    for (int i = 0; !stopped; i++) {
      int number = i;
      Path open = new Path("/open/" + number);
      if (timed("write " + open, () -> put(open, content(number)))
          && timed("rename " + open, () -> rename(open, path(number)))) {
        written.add(number);
      }
      pause();
    }
  }

  private static void pause() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS));
  }

  private void put(Path file, byte[] content) throws IOException {
    try (var out = files.create(file)) {
      out.write(content);
    }
  }

  private void rename(Path from, Path to) throws IOException {
    files.mkdirs(to.getParent());
    if (!files.rename(from, to)) {
      throw new IOException("rename answered false");
    }
  }

  private void read() {
    Random random = new Random(1);
    while (!stopped) {
      if (!written.isEmpty()) {
        int number = written.get(random.nextInt(written.size()));
        timed("read " + path(number), () -> check(number));
        timed("list", () -> files.listStatus(new Path("/")));
      }
      pause();
    }
  }

  private void check(int number) throws IOException {
    try (var in = files.open(path(number))) {
      if (!Arrays.equals(in.readAllBytes(), content(number))) {
        throw new IOException("another content came back");
      }
    }
  }

  private boolean timed(String name, Call call) {
    long startNanos = System.nanoTime();
    try {
      call.run();
      return true;
    } catch (IOException e) {
      failures.add(name + ": " + e);
      return false;
    } finally {
      longestMillis.accumulateAndGet(
          (System.nanoTime() - startNanos) / 1_000_000, (a, b) -> Math.max(a, b));
      calls.incrementAndGet();
    }
  }

  /** Waits until so many more calls have ended. */
  void awaitCalls(int more) throws IOException, InterruptedException {
    int goal = calls.get() + more;
    ConditionWaiter.within(STOP_MILLIS)
        .until(
            "calls of the client",
            () -> calls.get() >= goal ? null : calls + " calls, failures: " + failures);
  }

  Account stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join(STOP_MILLIS);
    }
    return new Account(written.size(), calls.get(), longestMillis.get(), List.copyOf(failures));
  }

  /** The files that do not come back as they were written. */
  Map<Integer, String> filesThatDiffer() {
    Map<Integer, String> differ = new TreeMap<>();
    for (int number : written) {
      try {
        check(number);
      } catch (IOException e) {
        differ.put(number, e.toString());
      }
    }
    return differ;
  }

  @Override
  public void close() throws IOException {
    stopped = true;
    files.close();
  }
}
