package io.ebbfs.verify.append;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A native writer in a process of its own ({@code append_tool}). It appends the records that it
 * gets, and its records that are stored are added to a set.
 */
final class NativeAppender implements AutoCloseable {
  private final int writer;
  private final Set<TestRecord> stored;
  private final AtomicInteger progress = new AtomicInteger();
  private final Process process;
  private final DataOutputStream records;
  private final Thread reader;
  private int next;

  NativeAppender(
      Path program, String authority, String path, int lanes, int writer, Set<TestRecord> stored)
      throws IOException {
    this.writer = writer;
    this.stored = stored;
    this.process =
        new ProcessBuilder(program.toString(), authority, path, Integer.toString(lanes))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    this.records = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
    this.reader = new Thread(this::readStored, "stored records of native writer " + writer);
    reader.start();
  }

  private void readStored() {
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        stored.add(new TestRecord(writer, Integer.parseInt(line)));
        progress.incrementAndGet();
      }
    } catch (IOException ended) {
      return;
    }
  }

  /** Appends the next record of the writer. */
  void append() throws IOException {
    byte[] bytes = new TestRecord(writer, next++).bytes();
    records.writeInt(bytes.length);
    records.write(bytes);
    records.flush();
  }

  /** How many records are stored. */
  int progress() {
    return progress.get();
  }

  /** Kills the process. Its records that are stored stay. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
    reader.join();
  }

  /** Ends the input, and waits until all records are stored. */
  @Override
  public void close() throws IOException, InterruptedException {
    if (process.isAlive()) {
      records.close();
    }
    int code = process.waitFor();
    reader.join();
    if (code != 0) {
      throw new IOException("native writer %d ended with %d".formatted(writer, code));
    }
  }
}
