package io.ebbfs.namespace.inode;

/**
 * How files are written.
 *
 * @param completeWaitMillis how long complete() waits for the first report of the last block before
 *     it lets the client ask again
 * @param recoveryRetryMillis how long a recovery of a last block may take before it is tried again
 */
public record FileSettings(long completeWaitMillis, long recoveryRetryMillis) {
  public static final FileSettings DEFAULT = new FileSettings(1_000, 30_000);
}
