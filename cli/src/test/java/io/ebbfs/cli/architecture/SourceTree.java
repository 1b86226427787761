package io.ebbfs.cli.architecture;

import java.nio.file.Files;
import java.nio.file.Path;

/** The files of the project. */
final class SourceTree {
  private SourceTree() {}

  /** The folder with the project's README. */
  static Path root() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.exists(at.resolve("docs/architecture.md"))) {
        return at;
      }
    }
    throw new IllegalStateException(
        "no docs/architecture.md above " + Path.of("").toAbsolutePath());
  }
}
