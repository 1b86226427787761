package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.BatchedRemoteIterator.BatchedEntries;
import org.apache.hadoop.fs.BatchedRemoteIterator.BatchedListEntries;
import org.apache.hadoop.hdfs.protocol.OpenFileEntry;
import org.apache.hadoop.hdfs.protocol.OpenFilesIterator.OpenFilesType;

/**
 * Lists the files that are open for writing, in the order of their ids. A page costs a walk over
 * the leases of all open files, as each look of {@link LeaseMonitor} does. Thread-safe.
 */
public final class OpenFileListing {
  /** As many as HDFS tells at a time. */
  static final int PAGE = 1_000;

  /** The ids that one walk over the leases remembers; more walks follow if few of them fit. */
  private static final int REMEMBERED = 10_000;

  private final MetadataStore store;
  private final BlockService blocks;

  public OpenFileListing(MetadataStore store, BlockService blocks) {
    this.store = store;
    this.blocks = blocks;
  }

  /**
   * A page of the open files.
   *
   * @param after the id of the last file of the page before; 0 for the first page
   * @param types all open files, or only those of which a block is written to a server that is
   *     drained
   * @param path an absolute path: the file at it, and the files below it
   */
  public BatchedEntries<OpenFileEntry> list(
      Caller caller, long after, Set<OpenFilesType> types, String path) throws IOException {
    FsPath below = FsPath.parse(path);
    PermissionChecker.checkSuperuser(caller, "listOpenFiles");
    if (types.contains(OpenFilesType.ALL_OPEN_FILES)) {
      return page(after, below, Set::copyOf);
    }
    if (types.contains(OpenFilesType.BLOCKING_DECOMMISSION)) {
      return page(after, below, blocks::writtenToLeavingServers);
    }
    throw new IllegalArgumentException(
        "'%s' are no types of open files: ask for one of %s"
            .formatted(types, List.of(OpenFilesType.values())));
  }

  /** Chooses among some open files. */
  @FunctionalInterface
  private interface Choice {
    Set<Long> among(List<Long> fileIds) throws IOException;
  }

  /** A page may be short, but it is empty only if no file follows: clients end there. */
  private BatchedEntries<OpenFileEntry> page(long after, FsPath below, Choice choice)
      throws IOException {
    List<OpenFileEntry> found = new ArrayList<>();
    long reached = after;
    List<Long> next;
    do {
      next = List.copyOf(nextIds(reached));
      for (int begin = 0; begin < next.size(); begin += PAGE) {
        List<Long> some = next.subList(begin, Math.min(begin + PAGE, next.size()));
        Set<Long> fit = choice.among(some);
        for (long id : some) {
          reached = id;
          if (fit.contains(id)) {
            entry(id, below).ifPresent(found::add);
          }
          if (found.size() == PAGE) {
            boolean more = id != next.get(next.size() - 1) || next.size() == REMEMBERED;
            return new BatchedListEntries<>(found, more);
          }
        }
      }
    } while (next.size() == REMEMBERED && found.isEmpty());
    return new BatchedListEntries<>(found, next.size() == REMEMBERED);
  }

  /** The smallest ids of open files behind an id. */
  private TreeSet<Long> nextIds(long after) throws IOException {
    TreeSet<Long> ids = new TreeSet<>();
    store.eachRow(
        Tables.LEASE,
        (key, lease) -> {
          for (long id : lease.getFileIdsList()) {
            if (id > after) {
              ids.add(id);
            }
          }
          while (ids.size() > REMEMBERED) {
            ids.pollLast();
          }
        });
    return ids;
  }

  private Optional<OpenFileEntry> entry(long fileId, FsPath below) throws IOException {
    return store.transact(
        fileId, Durability.RELAXED, transaction -> entry(transaction, fileId, below));
  }

  private static Optional<OpenFileEntry> entry(Transaction transaction, long fileId, FsPath below)
      throws IOException {
    Optional<Inode> file =
        OpenFileLookup.attached(transaction, fileId).filter(Inode::isUnderConstruction);
    Optional<FsPath> path = PathResolver.pathOf(transaction, fileId);
    if (file.isEmpty() || path.filter(below::isAtOrAbove).isEmpty()) {
      return Optional.empty();
    }
    UnderConstructionProto writer = file.get().row().getUnderConstruction();
    return Optional.of(
        new OpenFileEntry(
            fileId, path.get().toString(), writer.getClientName(), writer.getClientMachine()));
  }
}
