package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/** The files below a directory in which running processes write, rename and delete. */
public final class LiveFiles {
  private LiveFiles() {}

  /**
   * All regular files below a directory, in the order of their paths. What is deleted or renamed
   * while they are listed may be there or not; it is no error.
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
}
