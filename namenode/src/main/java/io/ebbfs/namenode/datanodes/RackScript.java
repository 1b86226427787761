package io.ebbfs.namenode.datanodes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A program that tells racks, as {@code net.topology.script.file.name} of HDFS: it gets IP
 * addresses as arguments, at most {@value #MOST_ARGUMENTS}, and prints the rack of each, divided by
 * white space. Answers are kept until the file of the program changes. If a run fails, the program
 * is asked for each of its addresses alone, and an address for which it fails again is left alone
 * for a minute. A program that has not told any rack, or is silent for ten seconds, is not run at
 * all for a minute. One that prints more than {@value #MOST_BYTES} bytes has failed, too.
 * Thread-safe; at most one process of the program runs at a time.
 */
final class RackScript {
  static final int MOST_ARGUMENTS = 100;
  static final int MOST_BYTES = 64 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(RackScript.class);

  private final Path program;
  private final long patienceMillis;
  private final long pauseMillis;
  private final Map<String, String> racks = new ConcurrentHashMap<>();
  // The addresses for which the program has failed, and when.
  private final Map<String, Long> refusedAtNanos = new HashMap<>();
  private FileTime modified;
  private boolean failed;
  private long failedAtNanos;

  private RackScript(Path program, long patienceMillis, long pauseMillis) throws IOException {
    this.program = program.toAbsolutePath();
    this.patienceMillis = patienceMillis;
    this.pauseMillis = pauseMillis;
    this.modified = Files.getLastModifiedTime(program);
  }

  /**
   * A program that is run when the first rack is asked for.
   *
   * @throws IOException if the file is missing or this user may not run it
   */
  static RackScript of(Path program) throws IOException {
    return of(program, 10_000, 60_000);
  }

  /** With another time limit of a run, and another pause after a failure. */
  static RackScript of(Path program, long patienceMillis, long pauseMillis) throws IOException {
    if (!Files.isRegularFile(program) || !Files.isExecutable(program)) {
      throw new IOException(
          ("topologyScript: the namenode cannot run %s: write the absolute path of a program there,"
                  + " and let the namenode's user run it (chmod a+rx)")
              .formatted(program));
    }
    return new RackScript(program, patienceMillis, pauseMillis);
  }

  /** The rack of an address; empty if the program does not tell it now. */
  Optional<String> rackOf(String address) {
    String known = racks.get(address);
    if (known == null) {
      ask(List.of(address));
      known = racks.get(address);
    }
    return Optional.ofNullable(known);
  }

  /** Forgets all racks if the file of the program has changed. */
  synchronized void refresh() {
    try {
      FileTime now = Files.getLastModifiedTime(program);
      if (!now.equals(modified)) {
        modified = now;
        racks.clear();
        refusedAtNanos.clear();
        failed = false;
      }
    } catch (IOException e) {
      // The next run tells that the program is away.
      LOG.debug("{} has no time of modification", program, e);
    }
  }

  /** Asks for the racks that are not known yet. */
  synchronized void ask(Collection<String> addresses) {
    List<String> unknown =
        addresses.stream()
            .distinct()
            .filter(address -> !racks.containsKey(address) && !isRefused(address))
            .toList();
    for (int from = 0; from < unknown.size() && mayRun(); from += MOST_ARGUMENTS) {
      List<String> some = unknown.subList(from, Math.min(unknown.size(), from + MOST_ARGUMENTS));
      try {
        askAtOnce(some);
      } catch (IOException e) {
        if (some.size() == 1 || isSilent(e)) {
          noteFailure(some, e);
        } else {
          askForEach(some);
        }
      }
    }
  }

  private void askAtOnce(List<String> addresses) throws IOException {
    racks.putAll(run(addresses));
    failed = false;
  }

  /** Asks for one address after the other, as long as one run may take. The next call goes on. */
  private void askForEach(List<String> addresses) {
    long began = System.nanoTime();
    List<String> refused = new ArrayList<>();
    IOException last = null;
    for (String address : addresses) {
      if (System.nanoTime() - began > patienceMillis * 1_000_000) {
        break;
      }
      try {
        askAtOnce(List.of(address));
      } catch (IOException e) {
        refused.add(address);
        last = e;
        if (isSilent(e)) {
          break;
        }
      }
    }
    if (last != null) {
      noteFailure(refused, last);
    }
  }

  private static boolean isSilent(IOException failure) {
    return failure.getCause() instanceof TimeoutException;
  }

  /** The program has told other racks: then only these addresses are left alone for a while. */
  private void noteFailure(List<String> addresses, IOException failure) {
    long now = System.nanoTime();
    addresses.forEach(address -> refusedAtNanos.put(address, now));
    if (racks.isEmpty() || isSilent(failure)) {
      failed = true;
      failedAtNanos = now;
    }
    LOG.warn(
        "The topology script {}. Run it by hand with each of the arguments {}: it must print a rack"
            + " such as /rack1. Until it does, known servers keep their racks and new ones are in {}."
            + " It is asked again in {} s",
        failure.getMessage(),
        addresses,
        RackTopology.DEFAULT_RACK,
        pauseMillis / 1_000);
  }

  private boolean isRefused(String address) {
    Long at = refusedAtNanos.get(address);
    return at != null && isPaused(at);
  }

  private boolean mayRun() {
    return !failed || !isPaused(failedAtNanos);
  }

  private boolean isPaused(long sinceNanos) {
    return System.nanoTime() - sinceNanos <= pauseMillis * 1_000_000;
  }

  private Map<String, String> run(List<String> addresses) throws IOException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(addresses);
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      return parse(addresses, printed(process));
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** What the process prints before it ends with exit code 0. */
  private String printed(Process process) throws IOException {
    CompletableFuture<byte[]> output = new CompletableFuture<>();
    Thread reader = new Thread(() -> read(process.getInputStream(), output), "topology-script");
    reader.setDaemon(true);
    reader.start();
    try {
      byte[] bytes = output.get(patienceMillis, TimeUnit.MILLISECONDS);
      if (bytes.length > MOST_BYTES) {
        throw new IOException("%s printed more than %d bytes".formatted(program, MOST_BYTES));
      }
      if (!process.waitFor(patienceMillis, TimeUnit.MILLISECONDS)) {
        throw new TimeoutException();
      }
      if (process.exitValue() != 0) {
        throw new IOException("%s ended with exit code %d".formatted(program, process.exitValue()));
      }
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (TimeoutException e) {
      throw new IOException("%s did not end within %d ms".formatted(program, patienceMillis), e);
    } catch (ExecutionException e) {
      throw new IOException("%s cannot be read: %s".formatted(program, e.getCause()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("%s was interrupted".formatted(program), e);
    }
  }

  private static void read(InputStream from, CompletableFuture<byte[]> output) {
    try {
      output.complete(from.readNBytes(MOST_BYTES + 1));
    } catch (IOException e) {
      output.completeExceptionally(e);
    }
  }

  private Map<String, String> parse(List<String> addresses, String text) throws IOException {
    List<String> words = text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
    if (words.size() != addresses.size()) {
      throw new IOException(
          "%s printed %d racks for %d addresses"
              .formatted(program, words.size(), addresses.size()));
    }
    Map<String, String> read = new HashMap<>();
    for (int i = 0; i < words.size(); i++) {
      if (!RackTopology.isRack(words.get(i))) {
        throw new IOException(
            "%s printed '%s', which does not begin with '/'".formatted(program, words.get(i)));
      }
      read.put(addresses.get(i), words.get(i));
    }
    return read;
  }
}
