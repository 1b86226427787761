package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;

/** Waits until a namenode that was launched serves calls. */
record ServedCalls(Build build) {
  /**
   * Returns with the first success.
   *
   * @param write whether a directory is made at the path; else its status is read
   */
  void await(NamenodeUnderTest namenode, boolean write, String path)
      throws ClusterException, IOException, InterruptedException {
    Process await =
        new ProcessBuilder(new GeneratorCommands(build).await(namenode, write, path))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String answer = new String(await.getInputStream().readAllBytes());
    if (await.waitFor() != 0) {
      throw new IOException("the start of %s: %s".formatted(namenode.name(), answer));
    }
    namenode.awaitNamenode();
  }
}
