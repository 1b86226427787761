package io.ebbfs.manager.api;

import io.ebbfs.manager.heat.DirectoryReads;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.view.InodeView;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reads of files, and of all files below directories, as of now. */
final class ReadAnswers {
  private final ManagerState manager;

  ReadAnswers(ManagerState manager) {
    this.manager = manager;
  }

  /** Null if they are not known. */
  DirectoryReads.Sum of(InodeView inode) {
    return of(List.of(inode)).get(inode.id());
  }

  /** By inode. Directories are left out while the reads below directories are not known. */
  Map<Long, DirectoryReads.Sum> of(Collection<InodeView> inodes) {
    long now = manager.nowMillis();
    Map<Long, DirectoryReads.Sum> sums = new HashMap<>();
    List<Long> files = ids(inodes, false);
    ManagerStore.Counts counts = manager.store().counts(now, manager.config().heat().halfLives());
    Map<Long, Double> heat = counts.heat().of(files);
    Map<Long, Double> remembered = counts.remembered().of(files);
    for (long id : files) {
      sums.put(
          id, new DirectoryReads.Sum(heat.getOrDefault(id, 0.0), remembered.getOrDefault(id, 0.0)));
    }
    Optional<Map<Long, DirectoryReads.Sum>> directories =
        manager.directoryReads().of(ids(inodes, true), now);
    directories.ifPresent(sums::putAll);
    return sums;
  }

  private static List<Long> ids(Collection<InodeView> inodes, boolean directories) {
    return inodes.stream()
        .filter(inode -> inode.isDirectory() == directories)
        .map(InodeView::id)
        .toList();
  }
}
