package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes backups of a running store: copies of all rows at one moment in a directory, named by their
 * time. Each is an embedded store, and is opened before it counts as a backup. Unchanged files are
 * shared with an embedded store by hard links if the directory is in the same file system; for a
 * backup that survives the disk, the directory belongs on another disk.
 *
 * <p>Thread-safe; one backup is taken at a time.
 */
public final class StoreBackups {
  private static final Logger LOG = LoggerFactory.getLogger(StoreBackups.class);
  private static final String PREFIX = "metadata-";
  private static final String PARTIAL = ".partial";

  /** Not a backup: {@link #onCopy} uses it. */
  private static final String COPY = "check" + PARTIAL;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmssSSS'Z'").withZone(ZoneOffset.UTC);
  private static final long CHECK_CACHE_BYTES = 8L << 20;

  private final MetadataStore store;
  private final Path directory;
  private final long everyMillis;
  private final int kept;
  private final Clock clock;
  private final Object copying = new Object();

  /**
   * @param directory where the backups are; it is made with the first one
   * @param everyMillis the time between two backups of the schedule; 0 for no schedule
   * @param kept how many backups are kept, at least 1; the oldest ones go
   */
  public StoreBackups(
      MetadataStore store, Path directory, long everyMillis, int kept, Clock clock) {
    this.store = store;
    this.directory = directory;
    this.everyMillis = everyMillis;
    this.kept = kept;
    this.clock = clock;
  }

  /** Takes a backup if the schedule says so. To be called about once a minute. */
  public synchronized void tick() throws IOException {
    if (everyMillis > 0 && isDue()) {
      take();
    }
  }

  private boolean isDue() throws IOException {
    List<Path> all = all();
    if (all.isEmpty()) {
      return true;
    }
    long age =
        Duration.between(timeOf(all.get(all.size() - 1)).orElseThrow(), clock.instant()).toMillis();
    return age >= everyMillis || age < 0; // the clock was set back
  }

  /**
   * Takes a backup now, while the store is in use.
   *
   * @return its directory
   * @throws IOException if it could not be written, or cannot be opened
   */
  public synchronized Path take() throws IOException {
    Files.createDirectories(directory);
    removePartial();
    String name = PREFIX + TIME.format(clock.instant());
    Path partial = directory.resolve(name + PARTIAL);
    store.checkpoint(partial);
    try (RocksDbStore copy = RocksDbStore.open(partial, 1_000, CHECK_CACHE_BYTES)) {
      RestoredStore.mark(copy, clock.instant().toString());
    }
    Path backup = directory.resolve(name);
    Files.move(partial, backup, StandardCopyOption.ATOMIC_MOVE);
    LOG.info("Backup of the metadata: {}", backup);
    List<Path> all = all();
    for (Path old : all.subList(0, Math.max(0, all.size() - kept))) {
      delete(old);
    }
    return backup;
  }

  /** What is done with a copy of all rows. */
  @FunctionalInterface
  public interface CopyWork {
    void on(MetadataStore copy) throws IOException;
  }

  /**
   * Runs work on a copy of all rows as they are at one moment, which goes afterwards. Backups may
   * be taken meanwhile.
   *
   * @throws IOException from the work, or if the copy cannot be made
   */
  public void onCopy(CopyWork work) throws IOException {
    synchronized (copying) {
      Path copy = directory.resolve(COPY);
      try {
        synchronized (this) {
          Files.createDirectories(directory);
          deleteIfThere(copy);
          store.checkpoint(copy);
        }
        try (RocksDbStore opened = RocksDbStore.open(copy, 1_000, CHECK_CACHE_BYTES)) {
          work.on(opened);
        }
      } finally {
        deleteIfThere(copy);
      }
    }
  }

  private static void deleteIfThere(Path tree) throws IOException {
    if (Files.exists(tree)) {
      delete(tree);
    }
  }

  /** The backups, the oldest first. */
  public List<Path> all() throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> timeOf(file).isPresent()).sorted().toList();
    }
  }

  private static Optional<Instant> timeOf(Path backup) {
    String name = backup.getFileName().toString();
    try {
      return name.startsWith(PREFIX)
          ? Optional.of(TIME.parse(name.substring(PREFIX.length()), Instant::from))
          : Optional.empty();
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  /** Removes what interrupted backups have left. */
  private void removePartial() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.startsWith(PREFIX) && name.endsWith(PARTIAL)) {
          delete(file);
        }
      }
    }
  }

  private static void delete(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
