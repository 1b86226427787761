package io.ebbfs.workloads.demo;

import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Reads the files of the hot set much more often than the other files, which it reads at random.
 * Other files must stay cold: a large one that becomes hot takes the room under the bound.
 */
final class SkewedReadStep {
  private static final int READS = 3000;
  private static final double SHARE_ON_HOT_SET = 0.8;
  private static final int IN_FLIGHT = 32;

  private final Random random;
  private final DemoConsole console;
  private long bytes;

  SkewedReadStep(Random random, DemoConsole console) {
    this.random = random;
    this.console = console;
  }

  void run(StockProcess client, Collection<LocalFile> stored, HotSet hot) throws IOException {
    List<LocalFile> ranked = hot.ranked();
    Set<LocalFile> isHot = new HashSet<>(ranked);
    List<LocalFile> rest =
        new ArrayList<>(stored.stream().filter(f -> !isHot.contains(f)).toList());
    ZipfRanks hotRanks = new ZipfRanks(ranked.size(), HotTraffic.ZIPF_EXPONENT);
    Queue<CompletableFuture<StockProcess.Answer>> pending = new ArrayDeque<>();
    for (int i = 0; i < READS; i++) {
      boolean readHot =
          rest.isEmpty() || !ranked.isEmpty() && random.nextDouble() < SHARE_ON_HOT_SET;
      LocalFile file =
          readHot ? ranked.get(hotRanks.next(random)) : rest.get(random.nextInt(rest.size()));
      pending.add(client.read(file.remote()));
      if (pending.size() >= IN_FLIGHT) {
        bytes += bytesOf(pending.remove());
      }
      console.progress("reading", i + 1, READS, DemoConsole.bytes(bytes));
    }
    for (CompletableFuture<StockProcess.Answer> answer : pending) {
      bytes += bytesOf(answer);
    }
    console.line(
        "   %d reads, %s; each open travels to the manager as a Kafka event",
        READS, DemoConsole.bytes(bytes));
  }

  static long bytesOf(CompletableFuture<StockProcess.Answer> answer) throws IOException {
    try {
      return answer.join().bytes();
    } catch (CompletionException e) {
      throw new IOException(e.getCause().getMessage(), e);
    }
  }
}
