package io.ebbfs.verify.day;

import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.verify.day.DayClient.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clients that read and write throughout the day, each in a thread of its own. Two writers keep a
 * directory of replicated files and one of encoded files at a size: they write new files and delete
 * the oldest. Thread-safe.
 */
final class DayUsers implements AutoCloseable {
  private static final int WRITERS = 2;
  private static final int READERS = 3;
  private static final long DIRECTORY_BYTES = 48L << 20;
  private static final int MOST_BLOCKS = 5;
  private static final int WRITER_PAUSE_MILLIS = 500;
  private static final int READER_PAUSE_MILLIS = 100;
  private static final long LONGEST_OPERATION_MILLIS = 240_000;

  private interface Work {
    void once(DayClient client, Random random) throws InterruptedException;
  }

  private final LocalCluster cluster;
  private final DayFiles book;
  private final DayCounts counts;
  private final SplittableRandom seeds;
  private final AtomicLong serial = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private final List<DayClient> clients = new ArrayList<>();
  private volatile boolean goesOn = true;

  DayUsers(LocalCluster cluster, DayFiles book, DayCounts counts, long seed) {
    this.cluster = cluster;
    this.book = book;
    this.counts = counts;
    this.seeds = new SplittableRandom(seed);
  }

  void start() throws IOException {
    for (int i = 0; i < WRITERS; i++) {
      start("day-writer-" + i, this::write);
    }
    for (int i = 0; i < READERS; i++) {
      start("day-reader-" + i, this::read);
    }
  }

  private void start(String name, Work work) throws IOException {
    DayClient client = new DayClient(cluster, book, counts);
    clients.add(client);
    Random random = new Random(seeds.nextLong());
    Thread thread = new Thread(() -> untilTheEnd(name, work, client, random), name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void untilTheEnd(String name, Work work, DayClient client, Random random) {
    try {
      while (goesOn) {
        work.once(client, random);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      counts.readError("%s ended by a mistake of its own: %s".formatted(name, e));
      throw e;
    }
  }

  private void write(DayClient client, Random random) throws InterruptedException {
    // A deletion leaves a gap in a stripe, which is rewritten once there are many.
    String directory = random.nextInt(4) > 0 ? DayCluster.REPLICATED : DayCluster.ENCODED;
    write(client, directory, random);
    Optional<DayFile> oldest = book.takeOldest(directory, DIRECTORY_BYTES);
    oldest.ifPresent(client::read);
    oldest.ifPresent(client::delete);
    Thread.sleep(random.nextInt(WRITER_PAUSE_MILLIS));
  }

  private Outcome write(DayClient client, String directory, Random random) {
    int blocks = 1 + random.nextInt(MOST_BLOCKS);
    int length = blocks * DayCluster.BLOCK_BYTES - random.nextInt(DayCluster.BLOCK_BYTES / 2);
    String path = "%s/f%d".formatted(directory, serial.incrementAndGet());
    return client.write(directory, new DayFile(path, random.nextLong(), length));
  }

  private void read(DayClient client, Random random) throws InterruptedException {
    Optional<DayFile> file = book.borrow(random);
    if (file.isPresent()) {
      if (random.nextInt(3) > 0) {
        client.read(file.get());
      } else {
        client.readPart(file.get(), random);
      }
      book.giveBack(file.get());
    }
    Thread.sleep(random.nextInt(READER_PAUSE_MILLIS));
  }

  /** Ends the threads after the operations that are under way. */
  void stop() throws InterruptedException {
    goesOn = false;
    for (Thread thread : threads) {
      thread.join(LONGEST_OPERATION_MILLIS);
      if (thread.isAlive()) {
        counts.readError(
            "%s hangs: %s".formatted(thread.getName(), List.of(thread.getStackTrace())));
      }
    }
    threads.clear();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    stop();
    for (DayClient client : clients) {
      client.close();
    }
  }
}
