package io.ebbfs.namenode.store;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process does whose metadata could not be brought to the disk. Clients have seen changes
 * that a restart may not find again, so the process must not serve them any longer.
 */
public final class FailedSync {
  /** The exit code of the process. */
  public static final int EXIT_CODE = 74; // EX_IOERR of sysexits.h

  private static final Logger LOG = LoggerFactory.getLogger(FailedSync.class);

  private FailedSync() {}

  /** Ends the process at once: an orderly end would write to the same disk. */
  public static void stopProcess(IOException failure) {
    LOG.error(
        "The metadata log could not be synced, so the namenode stops; check the disk and start it"
            + " again",
        failure);
    Runtime.getRuntime().halt(EXIT_CODE);
  }
}
