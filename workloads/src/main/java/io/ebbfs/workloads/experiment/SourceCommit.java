package io.ebbfs.workloads.experiment;

import io.ebbfs.workloads.results.Results.Environment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Asks git for the commit of a source tree. */
public final class SourceCommit {
  private static final List<String> DESCRIBE =
      List.of("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*");

  private SourceCommit() {}

  /** The full hash, with "-dirty" if files were changed since; "unknown" outside of git. */
  public static String of(Path home) throws InterruptedException {
    try {
      Process git =
          new ProcessBuilder(DESCRIBE)
              .directory(home.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      git.getOutputStream().close();
      String answer = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return git.waitFor() == 0 ? answer.strip() : Environment.UNKNOWN_COMMIT;
    } catch (IOException e) {
      return Environment.UNKNOWN_COMMIT; // there is no git
    }
  }
}
