package io.ebbfs.verify.histories;

import java.io.IOException;

/** A client of a namespace, used by one thread. */
interface NamespaceClient {
  /**
   * Runs a call in a directory.
   *
   * @throws IOException if the client does not know whether the call has had an effect
   */
  Answer run(String directory, Call call) throws IOException, InterruptedException;
}
