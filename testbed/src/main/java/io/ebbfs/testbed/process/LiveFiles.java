package io.ebbfs.testbed.process;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Lists files below a directory in which running processes write, rename and delete. */
public final class LiveFiles {
  private LiveFiles() {}

  /**
   * All regular files below a directory, in the order of their paths. A file that is deleted or
   * renamed meanwhile is listed or not; neither is an error.
   *
   * @return nothing if the directory does not exist
   * @throws IOException if a directory cannot be read for another reason
   */
  public static List<Path> below(Path directory) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile()) {
              found.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            return unlessGone(e);
          }

          @Override
          public FileVisitResult postVisitDirectory(Path left, IOException e) throws IOException {
            return e == null ? FileVisitResult.CONTINUE : unlessGone(e);
          }

          private FileVisitResult unlessGone(IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
    found.sort(null);
    return found;
  }

  /** Deletes a directory, if it exists, and all below it. Nothing may write there meanwhile. */
  public static void deleteTree(Path directory) throws ClusterException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new ClusterException("%s cannot be deleted: %s".formatted(directory, e), e);
    }
  }
}
