package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.RowSet;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads of several namenodes that move units between accounts. Each transaction changes two
 * accounts and writes a receipt, three rows in three partitions. The sum of the accounts is always
 * zero, and each acknowledged transaction has its receipt.
 */
final class Transfers implements AutoCloseable {
  private static final int ACCOUNTS = 40;
  // Nodes that start beside the transfers need the processors, too.
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(3);
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(240);

  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong nextReceipt = new AtomicLong(1_000);
  private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<Long> refused = ConcurrentHashMap.newKeySet();
  private final AtomicLong longestGapNanos = new AtomicLong();
  private volatile String lastRefusal = "";
  private volatile boolean stopped;

  static Transfers start(MetadataStore... stores) {
    Transfers transfers = new Transfers();
    for (int i = 0; i < 2 * stores.length; i++) {
      MetadataStore store = stores[i % stores.length];
      Random random = new Random(i);
      Thread thread = new Thread(() -> transfers.run(store, random), "transfers-" + i);
      transfers.threads.add(thread);
      thread.start();
    }
    return transfers;
  }

  private void run(MetadataStore store, Random random) {
    long last = System.nanoTime();
    while (!stopped) {
      LockSupport.parkNanos(PAUSE_NANOS);
      long receipt = nextReceipt.incrementAndGet();
      try {
        int from = random.nextInt(ACCOUNTS);
        int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
        store.transact(from, transaction -> transfer(transaction, from, to, receipt));
        acknowledged.add(receipt);
      } catch (CommitOutcomeUnknownException e) {
        continue;
      } catch (IOException e) {
        refused.add(receipt);
        lastRefusal = e.getMessage();
        continue;
      }
      long now = System.nanoTime();
      longestGapNanos.accumulateAndGet(now - last, Math::max);
      last = now;
    }
  }

  private static Object transfer(Transaction transaction, int from, int to, long receipt)
      throws IOException {
    RowSet rows =
        transaction.lockAndRead(
            List.of(
                RowLock.exclusive(Tables.COUNTER, account(from)),
                RowLock.exclusive(Tables.COUNTER, account(to))));
    change(transaction, rows, account(from), -1);
    change(transaction, rows, account(to), 1);
    transaction.put(
        Tables.SETTING, Key.of(receipt), SettingRow.newBuilder().setValue("receipt").build());
    return null;
  }

  private static void change(Transaction transaction, RowSet rows, Key account, long units) {
    long now = rows.get(Tables.COUNTER, account).map(CounterRow::getValue).orElse(0L);
    transaction.put(Tables.COUNTER, account, CounterRow.newBuilder().setValue(now + units).build());
  }

  private static Key account(int number) {
    return Key.of(number, 1);
  }

  /** Waits until so many more transactions were acknowledged. */
  void awaitMore(int transactions) throws InterruptedException {
    int wanted = acknowledged.size() + transactions;
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (acknowledged.size() < wanted) {
      assertThat(System.nanoTime()).as("no transaction succeeds").isLessThan(deadline);
      Thread.sleep(5);
    }
  }

  /** Waits until a transaction is refused with this reason. */
  void awaitRefusal(String reason) throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!lastRefusal.contains(reason)) {
      assertThat(System.nanoTime()).as(lastRefusal).isLessThan(deadline);
      Thread.sleep(5);
    }
  }

  long longestGapMillis() {
    return TimeUnit.NANOSECONDS.toMillis(longestGapNanos.get());
  }

  void check(MetadataStore store) throws IOException {
    assertThat(acknowledged).isNotEmpty();
    checkSince(acknowledged, store);
    assertThat(refused.stream().filter(receipt -> exists(store, receipt)))
        .as("refused, but there")
        .isEmpty();
  }

  /** The receipts of the transactions that have been acknowledged up to now. */
  Set<Long> acknowledged() {
    return Set.copyOf(acknowledged);
  }

  /** Checks rows as they were at a moment when these transactions had been acknowledged. */
  static void checkSince(Set<Long> receipts, MetadataStore store) throws IOException {
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      Key account = account(i);
      sum +=
          store.<Long>transact(
              i, t -> t.get(Tables.COUNTER, account).map(CounterRow::getValue).orElse(0L));
    }
    assertThat(sum).isZero();
    assertThat(receipts.stream().filter(receipt -> !exists(store, receipt)))
        .as("lost, of %d", receipts.size())
        .isEmpty();
  }

  private static boolean exists(MetadataStore store, long receipt) {
    try {
      return store.transact(receipt, t -> t.get(Tables.SETTING, Key.of(receipt)).isPresent());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  void stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join(LIMIT_NANOS / 1_000_000);
      assertThat(thread.isAlive()).isFalse();
    }
  }

  @Override
  public void close() throws InterruptedException {
    stop();
  }
}
