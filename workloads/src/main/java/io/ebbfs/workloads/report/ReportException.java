package io.ebbfs.workloads.report;

/** The results cannot be reported on; the message names the reason and the remedy. */
final class ReportException extends Exception {
  private static final long serialVersionUID = 1;

  ReportException(String message) {
    super(message);
  }
}
