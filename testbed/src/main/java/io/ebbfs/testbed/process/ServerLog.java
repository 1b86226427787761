package io.ebbfs.testbed.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The file of a process's output. */
public record ServerLog(Path file) {
  private static final long MAX_BYTES = 16L << 20;
  private static final int TAIL_BYTES = 16 << 10;

  /** Called before a start. A long log replaces the one previous log. */
  public void rotate() throws IOException {
    Files.createDirectories(file.getParent());
    if (Files.exists(file) && Files.size(file) > MAX_BYTES) {
      Path previous = file.resolveSibling(file.getFileName() + ".1");
      Files.move(file, previous, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** The last lines, indented; never fails. */
  public String tail(int lines) {
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
      byte[] end = new byte[(int) Math.min(TAIL_BYTES, log.length())];
      log.seek(log.length() - end.length);
      log.readFully(end);
      String[] all = new String(end, StandardCharsets.UTF_8).split("\n");
      StringBuilder text = new StringBuilder();
      for (int i = Math.max(0, all.length - lines); i < all.length; i++) {
        text.append("\n    ").append(all[i]);
      }
      return text.toString();
    } catch (IOException e) {
      return "\n    (" + file + ": " + e.getMessage() + ")";
    }
  }
}
