package io.ebbfs.manager.api;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.schedule.Evaluator;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A preview of edited policies on a thread of its own. Thread-safe. */
final class PreviewJob {
  private static final Logger LOG = LoggerFactory.getLogger(PreviewJob.class);

  private final long number;
  private final PolicySet edited;
  private final long mostFiles;
  private final Evaluator evaluator;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile long looked;
  private volatile boolean stopped;
  private final BiFunction<PreviewJob, Evaluator.Preview, PolicyAnswers.Preview> summary;
  private volatile PolicyAnswers.Preview result;
  private volatile RuntimeException failure;

  /**
   * @param mostFiles that are in memory at once; of more files a sample is taken
   * @param summary makes the figures to keep; the evaluations are not kept, since they hold files
   */
  PreviewJob(
      long number,
      PolicySet edited,
      long mostFiles,
      Evaluator evaluator,
      BiFunction<PreviewJob, Evaluator.Preview, PolicyAnswers.Preview> summary) {
    this.number = number;
    this.edited = edited;
    this.mostFiles = mostFiles;
    this.evaluator = evaluator;
    this.summary = summary;
  }

  void start() {
    Thread thread = new Thread(this::run, "preview-" + number);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      result =
          summary.apply(
              this, evaluator.preview(edited, mostFiles, rows -> looked = rows, () -> stopped));
    } catch (CancellationException e) {
      LOG.debug("Preview {} is not wanted any more", number);
    } catch (RuntimeException e) {
      LOG.warn("Preview {} fails: {}", number, e.getMessage());
      failure = e;
    } catch (Throwable e) {
      LOG.error("Preview {} fails", number, e);
      failure =
          new ApiException(
              500,
              "preview %d failed: %s".formatted(number, e),
              "see the manager's log; an OutOfMemoryError asks for a larger heap");
    } finally {
      ended.countDown();
    }
  }

  long number() {
    return number;
  }

  PolicySet edited() {
    return edited;
  }

  /** Files and directories that were looked at so far. */
  long looked() {
    return looked;
  }

  /** The job ends soon, without a result. */
  void stop() {
    stopped = true;
  }

  /**
   * The result once the job has ended; null before.
   *
   * @param millis to wait for the end
   * @throws RuntimeException if the job has failed
   */
  PolicyAnswers.Preview await(long millis) throws InterruptedException {
    if (!ended.await(millis, TimeUnit.MILLISECONDS)) {
      return null;
    }
    if (failure != null) {
      throw failure;
    }
    return result;
  }
}
