package io.ebbfs.namenode.files.io;

/**
 * Times for the writing of files.
 *
 * @param completeWaitMillis how long complete() waits for the first report of the last block; after
 *     that the client asks again
 * @param recoveryRetryMillis a block recovery that has not ended after this long is ordered again;
 *     after two that did not end, the next ones have up to three times as long
 */
public record FileSettings(long completeWaitMillis, long recoveryRetryMillis) {
  public static final FileSettings DEFAULT = new FileSettings(1_000, 30_000);
}
