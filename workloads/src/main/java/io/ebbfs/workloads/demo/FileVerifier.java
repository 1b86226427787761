package io.ebbfs.workloads.demo;

import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.client.StockProcess.Answer;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Reads every file through the stock client and compares its SHA-256 with that of the local file.
 */
final class FileVerifier {
  private static final int IN_FLIGHT = 32;
  private static final int SHOWN_FAILURES = 5;

  private final DemoConsole console;
  private final Map<LocalFile, String> expected;

  /**
   * @param expected the digest of each file, computed from the local bytes while they were stored
   */
  FileVerifier(DemoConsole console, Map<LocalFile, String> expected) {
    this.console = console;
    this.expected = expected;
  }

  private record Pending(LocalFile file, CompletableFuture<Answer> answer) {}

  /** Reads all files; failures are printed and counted, never thrown. */
  DemoReport.Verification verify(StockProcess client, String after, long degradedReadsBefore) {
    Tally tally = new Tally(System.nanoTime());
    Queue<Pending> pending = new ArrayDeque<>();
    for (LocalFile file : expected.keySet()) {
      pending.add(new Pending(file, client.read(file.remote())));
      if (pending.size() >= IN_FLIGHT) {
        settle(pending.remove(), tally);
      }
    }
    pending.forEach(one -> settle(one, tally));
    return new DemoReport.Verification(
        after,
        tally.files,
        tally.bytes,
        tally.mismatches,
        tally.unreadable,
        tally.seconds(),
        degradedReadsBefore);
  }

  private static final class Tally {
    private final long start;
    private int files;
    private long bytes;
    private int mismatches;
    private int unreadable;

    Tally(long start) {
      this.start = start;
    }

    double seconds() {
      return (System.nanoTime() - start) / 1e9;
    }
  }

  private void settle(Pending one, Tally tally) {
    tally.files++;
    try {
      Answer answer = one.answer.join();
      tally.bytes += answer.bytes();
      if (!answer.sha256().equals(expected.get(one.file))) {
        fail(++tally.mismatches, "WRONG BYTES in " + one.file.remote());
      }
    } catch (CompletionException e) {
      fail(
          ++tally.unreadable, "UNREADABLE " + one.file.remote() + ": " + e.getCause().getMessage());
    }
    console.progress(
        "reading every file", tally.files, expected.size(), DemoConsole.bytes(tally.bytes));
  }

  private void fail(int count, String what) {
    if (count <= SHOWN_FAILURES) {
      console.line("   %s", what.replace("%", "%%"));
    }
  }
}
