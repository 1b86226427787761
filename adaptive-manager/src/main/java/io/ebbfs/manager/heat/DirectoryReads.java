package io.ebbfs.manager.heat;

import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.view.InodeListener;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The reads of all files below a directory, which are at hand for each directory ({@link
 * ReadTree}). It hears from the view where files and directories are. Thread-safe.
 */
public final class DirectoryReads implements InodeListener {
  /** The sum of all reads may be wrong by this part. */
  private static final double ROUNDING = 1e-6;

  private final ManagerStore store;
  private final HalfLives halfLives;

  DirectoryReads(ManagerStore store, HalfLives halfLives) {
    this.store = store;
    this.halfLives = halfLives;
  }

  /**
   * Decayed reads.
   *
   * @param heat as thresholds take them
   * @param remembered as conversions are weighed by them
   */
  public record Sum(double heat, double remembered) {}

  /**
   * The reads below directories, by their ids.
   *
   * @return empty while the files that were read before are still being placed, after an update of
   *     the manager or a change of the half-lives
   */
  public Optional<Map<Long, Sum>> of(Collection<Long> directories, long nowMillis) {
    return store.alone(
        halfLives,
        () -> {
          if (!store.tree().isWhole()) {
            return Optional.empty();
          }
          Map<Long, Sum> sums = new HashMap<>();
          for (long id : directories) {
            Reads reads = store.tree().of(id);
            sums.put(
                id,
                new Sum(
                    reads.heatAt(nowMillis, halfLives),
                    reads.memory().at(nowMillis, halfLives.memoryMillis())));
          }
          return Optional.of(sums);
        });
  }

  /**
   * The files that are read most, and the directories above them.
   *
   * @param heat by inode
   * @param otherFilesAtMost no other file has more
   * @param otherDirectoriesAtMost no other directory has more
   */
  public record Hottest(
      Map<Long, Double> heat, double otherFilesAtMost, double otherDirectoriesAtMost) {}

  /**
   * Lists the files that are read most. The counts do not change meanwhile.
   *
   * @param limit of files, and of directories
   * @param exists tells by the id whether a file exists; must not wait for whoever counts reads
   * @return empty while the reads below directories are not known
   */
  public Optional<Hottest> hottest(int limit, LongPredicate exists, long nowMillis) {
    return store.alone(
        halfLives,
        () ->
            store.tree().isWhole()
                ? Optional.of(listHottest(limit, exists, nowMillis))
                : Optional.empty());
  }

  private Hottest listHottest(int limit, LongPredicate exists, long nowMillis)
      throws RocksDBException {
    ReadCounts counts = store.counts(nowMillis, halfLives).heat();
    List<Long> files = counts.mostRead(limit, exists);
    Map<Long, Double> heat = new HashMap<>(counts.of(files));
    double placed = 0;
    double unplaced = 0;
    for (Map.Entry<Long, Double> file : heat.entrySet()) {
      if (store.tree().placeOf(file.getKey()) == NO_INODE) {
        unplaced += file.getValue();
      } else {
        placed += file.getValue();
      }
    }
    double all = store.tree().of(InodeListener.ROOT).heatAt(nowMillis, halfLives);
    double least = heat.values().stream().mapToDouble(count -> count).min().orElse(0);
    boolean isCut = files.size() == limit;
    double rest = Math.max(0, all - placed);
    if (isCut) {
      rest += all * ROUNDING; // where many files are left, their reads may be lost in the sums
    } else if (rest < all * ROUNDING) {
      rest = 0;
    }
    double otherFiles = isCut ? least * ReadIndex.MOST_ABOVE : rest;
    Set<Long> directories = new HashSet<>();
    boolean fits = true;
    for (Iterator<Long> next = files.iterator(); fits && next.hasNext(); ) {
      fits = addAbove(next.next(), directories, limit);
    }
    for (long id : directories) {
      heat.put(id, store.tree().of(id).heatAt(nowMillis, halfLives));
    }
    return new Hottest(heat, otherFiles, unplaced + (fits ? rest : all));
  }

  /** Returns whether all directories above a file are among them now. */
  private boolean addAbove(long fileId, Set<Long> directories, int limit) throws RocksDBException {
    long at = store.tree().placeOf(fileId);
    while (at != NO_INODE && !directories.contains(at)) {
      if (directories.size() == limit) {
        return false;
      }
      directories.add(at);
      at = store.tree().placeOf(at);
    }
    return true;
  }

  /** The directory that a file that was read counts for; {@link #NO_INODE} for none. */
  public long placeOf(long id) {
    return store.alone(halfLives, () -> store.tree().placeOf(id));
  }

  @Override
  public void entered(long id, long directory, LongUnaryOperator directoryOf) {
    write((tree, batch) -> move(tree, batch, id, directory, directoryOf));
  }

  @Override
  public void left(long id) {
    write((tree, batch) -> move(tree, batch, id, NO_INODE, other -> NO_INODE));
  }

  private boolean move(
      ReadTree tree, WriteBatch batch, long id, long directory, LongUnaryOperator directoryOf)
      throws RocksDBException {
    ReadTree.Change change = tree.change(batch, halfLives);
    change.move(id, directory, directoryOf);
    change.end();
    return true;
  }

  @Override
  public boolean catchUp(int most, LongUnaryOperator directoryOf) {
    return write((tree, batch) -> tree.placeSome(batch, halfLives, most, directoryOf));
  }

  private interface Write {
    boolean on(ReadTree tree, WriteBatch batch) throws RocksDBException;
  }

  private boolean write(Write work) {
    return store.alone(
        halfLives,
        () -> {
          try (WriteBatch batch = new WriteBatch();
              WriteOptions options = new WriteOptions()) {
            boolean more = work.on(store.tree(), batch);
            RocksDB db = store.db();
            if (batch.count() > 0) {
              db.write(options, batch);
            }
            return more;
          }
        });
  }
}
