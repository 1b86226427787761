package io.ebbfs.workloads.experiment.report;

/** There is nothing to report on; the message says why and what to do. */
public final class ReportException extends Exception {
  private static final long serialVersionUID = 1;

  ReportException(String message) {
    super(message);
  }
}
