package io.ebbfs.ignite;

import org.apache.ignite.Ignite;
import org.apache.ignite.failure.AbstractFailureHandler;
import org.apache.ignite.failure.FailureContext;
import org.apache.ignite.failure.FailureType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a process whose node cannot go on: a supervisor starts it again. */
final class StopOnFailure extends AbstractFailureHandler {
  /** The other nodes went on without this one, for example because it was frozen. */
  static final int EXCLUDED = 75; // EX_TEMPFAIL of sysexits.h

  /** The disk or the memory failed. */
  static final int FAILED = 74; // EX_IOERR of sysexits.h

  private static final Logger LOG = LoggerFactory.getLogger(StopOnFailure.class);

  @Override
  protected boolean handle(Ignite ignite, FailureContext failure) {
    boolean excluded = failure.type() == FailureType.SEGMENTATION;
    LOG.error(
        "The store node {} stops ({}): {}",
        ignite.name(),
        failure.type(),
        excluded
            ? "the other nodes went on without it; start it again"
            : "check its disk and memory, then start it again",
        failure.error());
    Runtime.getRuntime().halt(excluded ? EXCLUDED : FAILED);
    return true;
  }
}
