package io.ebbfs.manager.api;

import io.ebbfs.common.files.RotatedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;

/**
 * The audit log of the control plane: a line for each request that changes something, and for each
 * that was refused for its caller, in the format of the namenode's audit log. A line is in the file
 * before its request is carried out. Thread-safe.
 */
final class ActionLog implements AutoCloseable {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS").withZone(ZoneId.systemDefault());

  private final Path path;
  private final RotatedFile file;
  private final Clock clock;

  private ActionLog(Path path, RotatedFile file, Clock clock) {
    this.path = path;
    this.file = file;
    this.clock = clock;
  }

  static ActionLog open(Path path, Clock clock) throws IOException {
    return new ActionLog(path, RotatedFile.open(path, "the control plane's --data"), clock);
  }

  /**
   * Adds a line.
   *
   * @param address of the caller
   * @param parameters of the request, as they came
   * @throws ApiException if the line cannot be written; the request must not be carried out then
   */
  synchronized void note(boolean allowed, String address, String command, String parameters) {
    try {
      file.append(
          "%s INFO FSNamesystem.audit: allowed=%s\tugi=%s (auth:TOKEN)\tip=/%s\tcmd=%s\tsrc=%s\tdst=null\tperm=null\tproto=rest%n"
              .formatted(
                  TIME.format(Instant.ofEpochMilli(clock.millis())),
                  allowed,
                  allowed ? "operator" : "unknown",
                  address,
                  command,
                  escaped(parameters)));
      file.flush();
    } catch (IOException e) {
      throw new ApiException(
          503,
          "the audit log " + path + " cannot be written (" + e + "): nothing was changed",
          "see that its disk has space and is well, and send the request again");
    }
  }

  /** No parameter can end a line or a field. */
  private static String escaped(String text) {
    if (text == null || text.isEmpty()) {
      return "null";
    }
    StringBuilder out = new StringBuilder(text.length());
    for (char c : text.toCharArray()) {
      out.append(c > ' ' && c <= '~' ? String.valueOf(c) : "\\u%04X".formatted((int) c));
    }
    return out.toString();
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }
}
