package io.ebbfs.client;

import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.AccessControlException;

/**
 * Repeats what fails, for example because the namenode or a server is away.
 *
 * @param path the file that is appended to, for messages
 * @param millis after so long a failure is final
 */
record Patience(String path, long millis) {
  private static final long RETRY_MILLIS = 200;

  interface Attempt<T> {
    T run(Deadline deadline) throws IOException, InterruptedException;
  }

  /**
   * The result of the first attempt that does not fail.
   *
   * @throws IOException if the time is over, or another attempt would not help
   */
  <T> T repeat(Attempt<T> attempt) throws IOException, InterruptedException {
    Deadline deadline = Deadline.in(millis);
    for (; ; ) {
      try {
        return attempt.run(deadline);
      } catch (IOException failure) {
        if (isFinal(failure)) {
          throw failure;
        }
        deadline.check("%s takes no records".formatted(path), failure);
      }
      Thread.sleep(RETRY_MILLIS);
    }
  }

  private static boolean isFinal(IOException failure) {
    IOException cause =
        failure instanceof RemoteException remote ? remote.unwrapRemoteException() : failure;
    return cause instanceof AppendException
        || cause instanceof AccessControlException
        || cause instanceof QuotaExceededException;
  }
}
