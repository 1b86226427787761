package io.ebbfs.manager.config;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.common.config.YamlFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The policies in force, reloaded live. {@link #poll} checks the file: a sound edit comes into
 * force; a broken edit is refused with all its problems, and the policies before it stay.
 * Thread-safe.
 */
public final class LivePolicies {
  private static final Logger LOG = LoggerFactory.getLogger(LivePolicies.class);

  /**
   * The policies in force.
   *
   * @param loadedMillis when they were read
   * @param refused the problems of the file as it is now; empty if the file is in force
   */
  public record Current(PolicySet policies, long loadedMillis, List<ConfigProblem> refused) {}

  private final Path path;
  private final CodeRegistry codes;
  private volatile Current current;
  private volatile String textInForce;
  private String seenText;
  private long seenModified;

  private LivePolicies(Path path, CodeRegistry codes, Current current, String seenText) {
    this.path = path;
    this.codes = codes;
    this.current = current;
    this.seenText = seenText;
    this.textInForce = seenText;
  }

  /** Reads the file for the first time; a broken file is an error then. */
  public static LivePolicies open(Path directory, CodeRegistry codes, long nowMillis)
      throws ConfigException {
    Path path = directory.resolve(PolicySet.FILE);
    String text = YamlFile.text(path);
    PolicySet policies = PolicySet.parse(path, text, codes);
    return new LivePolicies(path, codes, new Current(policies, nowMillis, List.of()), text);
  }

  public Current current() {
    return current;
  }

  /** The text of the file when the policies in force were read from it. */
  public String textInForce() {
    return textInForce;
  }

  public Path path() {
    return path;
  }

  /** Reads the file again if it changed. Returns whether other policies are in force now. */
  public synchronized boolean poll(long nowMillis) {
    try {
      long modified = Files.exists(path) ? Files.getLastModifiedTime(path).toMillis() : -1;
      // A file written in the last seconds may change again without a new time stamp.
      if (modified == seenModified && nowMillis - modified > 5_000) {
        return false;
      }
      seenModified = modified;
      String text = YamlFile.text(path);
      return !text.equals(seenText) && replace(text, nowMillis);
    } catch (ConfigException e) {
      refuse(e);
    } catch (IOException e) {
      refuse(
          new ConfigException(
              List.of(
                  new ConfigProblem(
                      PolicySet.FILE, 0, "cannot be read (" + e + ")", "restore it"))));
    }
    return false;
  }

  /**
   * Changes the bound of a policy in the file, and puts it in force. A change that is refused
   * leaves the file as it was.
   *
   * @throws ConfigException if the file with the change is not sound
   * @throws IOException if the file cannot be written
   */
  public synchronized void setBound(String policy, double bound, long nowMillis)
      throws ConfigException, IOException {
    put(BoundEdit.apply(path, YamlFile.text(path), policy, bound, codes), nowMillis);
  }

  /** As {@link #setBound}, for the bound of the cluster. */
  public synchronized void setClusterBound(double bound, long nowMillis)
      throws ConfigException, IOException {
    put(BoundEdit.applyToCluster(path, YamlFile.text(path), bound, codes), nowMillis);
  }

  private void put(String text, long nowMillis) throws ConfigException, IOException {
    writeAtomically(path.toRealPath(), text);
    replace(text, nowMillis);
  }

  /**
   * Whether {@link #setBound} would accept this bound now. Nothing changes.
   *
   * @throws ConfigException if it would not
   */
  public synchronized void checkBound(String policy, double bound) throws ConfigException {
    BoundEdit.apply(path, YamlFile.text(path), policy, bound, codes);
  }

  /** As {@link #checkBound}, for the bound of the cluster. */
  public synchronized void checkClusterBound(double bound) throws ConfigException {
    BoundEdit.applyToCluster(path, YamlFile.text(path), bound, codes);
  }

  /** A crash leaves the old file or the new one. */
  private static void writeAtomically(Path file, String text) throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel out =
        FileChannel.open(
            draft,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      Files.setPosixFilePermissions(draft, Files.getPosixFilePermissions(file));
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
      out.force(true);
    }
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    try (FileChannel directory = FileChannel.open(file.getParent())) {
      directory.force(true);
    }
  }

  private boolean replace(String text, long nowMillis) throws ConfigException {
    seenText = text;
    PolicySet policies = PolicySet.parse(path, text, codes);
    boolean different = !policies.equals(current.policies);
    current = new Current(policies, nowMillis, List.of());
    textInForce = text;
    LOG.info("{} reloaded: {} policies in force", path, policies.rules().size());
    return different;
  }

  private void refuse(ConfigException e) {
    if (!e.problems().equals(current.refused)) {
      LOG.error("{} is refused, the policies before it stay in force:\n{}", path, e.getMessage());
    }
    seenText = null;
    current = new Current(current.policies, current.loadedMillis, e.problems());
  }
}
