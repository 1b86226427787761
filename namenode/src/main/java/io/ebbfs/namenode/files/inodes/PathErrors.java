package io.ebbfs.namenode.files.inodes;

import java.io.FileNotFoundException;
import org.apache.hadoop.fs.FileAlreadyExistsException;

/**
 * Errors that clients cause often. Nobody reads where such an error was thrown, so the error has no
 * stack trace, which takes one to two microseconds to fill in.
 */
public final class PathErrors {
  private PathErrors() {}

  public static FileNotFoundException notFound(String message) {
    return new FileNotFoundException(message) {
      @Override
      public Throwable fillInStackTrace() {
        return this;
      }
    };
  }

  public static FileAlreadyExistsException alreadyExists(String message) {
    return new FileAlreadyExistsException(message) {
      @Override
      public Throwable fillInStackTrace() {
        return this;
      }
    };
  }
}
