package io.ebbfs.workloads.demo;

import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Stores all files through a stock client. */
final class StoreStep {
  private static final int IN_FLIGHT = 32;

  private final DataSet data;
  private final DemoConsole console;
  private final Map<LocalFile, String> digests = new LinkedHashMap<>();
  private long bytes;

  private record Pending(LocalFile file, CompletableFuture<StockProcess.Answer> answer) {}

  StoreStep(DataSet data, DemoConsole console) {
    this.data = data;
    this.console = console;
  }

  /** Returns the SHA-256 of each file, computed from the local bytes while they were stored. */
  Map<LocalFile, String> run(StockProcess client) {
    Queue<Pending> pending = new ArrayDeque<>();
    for (LocalFile file : data.files()) {
      pending.add(new Pending(file, client.put(file.local(), file.remote())));
      if (pending.size() >= IN_FLIGHT) {
        settle(pending.remove());
      }
    }
    pending.forEach(this::settle);
    console.line(
        "   %d files, %s stored in three replicas", digests.size(), DemoConsole.bytes(bytes));
    return digests;
  }

  private void settle(Pending one) {
    try {
      StockProcess.Answer answer = one.answer.join();
      digests.put(one.file, answer.sha256());
      bytes += answer.bytes();
      console.progress("storing", bytes, data.bytes(), digests.size() + " files");
    } catch (CompletionException e) {
      throw new DemoException(
          "could not store '%s': %s".formatted(one.file.local(), e.getCause().getMessage()));
    }
  }
}
