package io.ebbfs.namenode.audit;

import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.StoreBackups.CopyWork;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the sums of quotas of a store that is in use, by order of an operator, and mends them. A
 * run compares a copy of all rows as they were at one moment, on a thread of its own, and mends
 * what it finds in the store itself. One run at a time. Thread-safe.
 */
public final class QuotaInspector implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(QuotaInspector.class);
  private static final int MOST_TEXTS = 1_000;
  private static final long CLOSE_MILLIS = 10_000;

  /** Runs work on a copy of all rows. */
  @FunctionalInterface
  public interface Copies {
    void onCopy(CopyWork work) throws IOException;
  }

  /**
   * A run of the check.
   *
   * @param id that its caller has chosen
   * @param mends whether the run mends the errors that it finds
   * @param ended whether it has ended
   * @param inodes the inodes that were compared up to now
   * @param found how much does not fit
   * @param mended how much of it was mended
   * @param texts what does not fit, in a sentence each, at most {@value #MOST_TEXTS}
   * @param failure why the run has broken off; empty if it has not
   */
  public record Run(
      long id,
      boolean mends,
      boolean ended,
      long inodes,
      long found,
      long mended,
      List<String> texts,
      String failure) {}

  private final MetadataStore store;
  private final TreeCounter counter;
  private final Copies copies;
  private long id;
  private boolean mends;
  private boolean ended = true;
  private long found;
  private long mended;
  private List<String> texts = List.of();
  private String failure = "";
  private QuotaCheck check;
  private Thread thread;
  private boolean closed;

  public QuotaInspector(MetadataStore store, TreeCounter counter, Copies copies) {
    this.store = store;
    this.counter = counter;
    this.copies = copies;
  }

  /**
   * Begins a run and returns at once. Nothing begins if the last run has this id: a repeated call
   * starts nothing.
   *
   * @param runId not 0
   * @throws IOException if another run has not ended
   */
  public synchronized void start(long runId, boolean mend) throws IOException {
    if (id == runId) {
      return;
    }
    if (!ended) {
      throw new IOException(
          "the quotas are being checked already, and %d inodes are compared: try again when that has ended"
              .formatted(last().inodes()));
    }
    id = runId;
    mends = mend;
    ended = false;
    found = 0;
    mended = 0;
    texts = new ArrayList<>();
    failure = "";
    check = null;
    thread = new Thread(this::run, "quotas");
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns once the run that was started last has ended. */
  void awaitEnd() throws InterruptedException {
    Thread running;
    synchronized (this) {
      running = thread;
    }
    if (running != null) {
      running.join();
    }
  }

  /** The run that was started last. Its id is 0 if none was. */
  public synchronized Run last() {
    return new Run(
        id,
        mends,
        ended,
        check == null ? 0 : check.inodesRead(),
        found,
        mended,
        List.copyOf(texts),
        failure);
  }

  private void run() {
    String why = "the check of the quotas has ended by an error: see the log of the namenode";
    try {
      QuotaMender mender = new QuotaMender(store, counter);
      copies.onCopy(
          copy -> {
            QuotaCheck begun = new QuotaCheck(copy, finding -> found(finding, mender));
            watch(begun);
            begun.compare();
          });
      why = "";
    } catch (IOException | RuntimeException e) {
      LOG.warn("The check of the quotas has broken off", e);
      why = String.valueOf(e.getMessage());
    } finally {
      end(why); // after an Error, too: else no other run could begin
    }
  }

  private synchronized void watch(QuotaCheck begun) {
    check = begun;
    if (closed) {
      begun.stop();
    }
  }

  private synchronized void end(String why) {
    failure = why;
    ended = true;
    LOG.info(
        "{} of {} findings about quotas are mended; the first {} are told above",
        mended,
        found,
        texts.size());
  }

  private void found(QuotaFinding finding, QuotaMender mender) throws IOException {
    String text = finding.text();
    boolean isMended = false;
    if (mends) {
      try {
        mender.mend(finding);
        isMended = true;
      } catch (IOException e) {
        text += "; " + e.getMessage();
      }
    }
    note(text, isMended);
  }

  private synchronized void note(String text, boolean isMended) {
    found++;
    mended += isMended ? 1 : 0;
    if (texts.size() < MOST_TEXTS) {
      LOG.warn("Quotas: {}", text);
      texts.add(text);
    }
  }

  /** Breaks off the run. */
  @Override
  public void close() throws InterruptedException {
    Thread running;
    synchronized (this) {
      closed = true;
      running = thread;
      if (check != null) {
        check.stop();
      }
    }
    if (running != null) {
      running.join(CLOSE_MILLIS);
    }
  }
}
