package io.ebbfs.manager.config;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.common.config.YamlFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
  private String seenText;
  private long seenModified;

  private LivePolicies(Path path, CodeRegistry codes, Current current, String seenText) {
    this.path = path;
    this.codes = codes;
    this.current = current;
    this.seenText = seenText;
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

  private boolean replace(String text, long nowMillis) throws ConfigException {
    seenText = text;
    PolicySet policies = PolicySet.parse(path, text, codes);
    boolean different = !policies.equals(current.policies);
    current = new Current(policies, nowMillis, List.of());
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
