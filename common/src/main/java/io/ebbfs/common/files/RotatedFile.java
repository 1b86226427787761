package io.ebbfs.common.files;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A file of lines. When it is full it is renamed to NAME.1, an earlier NAME.1 to NAME.2, and so on;
 * the oldest file goes. Not thread-safe.
 */
public final class RotatedFile implements AutoCloseable {
  private static final long FULL_BYTES = 256L << 20;
  private static final int OLD_FILES = 10;

  private final Path file;
  private final long fullBytes;
  private BufferedWriter out;
  private long bytes;

  private RotatedFile(Path file, long fullBytes) {
    this.file = file;
    this.fullBytes = fullBytes;
  }

  /**
   * Opens a file, which need not exist, to add lines.
   *
   * @param setting that names the file, for messages: "auditLog in namenode.yaml"
   * @throws IOException with a message for the operator if the file cannot be written
   */
  public static RotatedFile open(Path file, String setting) throws IOException {
    return open(file, setting, FULL_BYTES);
  }

  static RotatedFile open(Path file, String setting, long fullBytes) throws IOException {
    RotatedFile opened = new RotatedFile(file.toAbsolutePath(), fullBytes);
    try {
      opened.reopen();
    } catch (IOException e) {
      throw new IOException(
          "the file %s of %s cannot be written (%s); make its directory, or name another file"
              .formatted(file, setting, e),
          e);
    }
    return opened;
  }

  private void reopen() throws IOException {
    out =
        Files.newBufferedWriter(
            file,
            StandardCharsets.UTF_8,
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND,
            StandardOpenOption.WRITE);
    bytes = Files.size(file);
  }

  /** Adds a line, which ends with its line feed. */
  public void append(String line) throws IOException {
    if (out == null) {
      reopen();
    }
    try {
      if (bytes > fullBytes) {
        rotate();
      }
      out.write(line);
      bytes += line.length();
    } catch (IOException e) {
      forget();
      throw e;
    }
  }

  /** Writes all lines to the operating system. */
  public void flush() throws IOException {
    if (out != null) {
      try {
        out.flush();
      } catch (IOException e) {
        forget();
        throw e;
      }
    }
  }

  /** The next line opens the file again. */
  private void forget() {
    try {
      out.close();
    } catch (IOException e) {
      // The error that led here is reported.
    }
    out = null;
  }

  private void rotate() throws IOException {
    out.close();
    for (int i = OLD_FILES - 1; i >= 0; i--) {
      Path from = i == 0 ? file : old(i);
      if (Files.exists(from)) {
        Files.move(from, old(i + 1), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    reopen();
  }

  private Path old(int number) {
    return file.resolveSibling(file.getFileName() + "." + number);
  }

  @Override
  public void close() throws IOException {
    if (out != null) {
      out.close();
    }
  }
}
