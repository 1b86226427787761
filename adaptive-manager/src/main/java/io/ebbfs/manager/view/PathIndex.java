package io.ebbfs.manager.view;

import io.ebbfs.protocol.proto.ManagerProtos.ViewInodeRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Finds files and directories of the view by path, by directory and by the begin of their name. An
 * answer costs what it returns, whatever the namespace holds, and waits for no writer. Thread-safe.
 */
final class PathIndex {
  /** The inode of "/". */
  static final long ROOT_ID = InodeListener.ROOT;

  private final ViewStore.Reader store;

  PathIndex(ViewStore.Reader store) {
    this.store = store;
  }

  /** The inode at a path; empty if there is none, and for "/", which has no row. */
  Optional<ViewInodeRow> at(String path) {
    List<String> names = names(path);
    List<ViewInodeRow> rows = along(names);
    return names.isEmpty() || rows.size() < names.size()
        ? Optional.empty()
        : Optional.of(rows.get(rows.size() - 1));
  }

  /** The inodes on the way to a path, from the top, and that at the path: as far as they exist. */
  List<ViewInodeRow> along(String path) {
    return along(names(path));
  }

  private List<ViewInodeRow> along(List<String> names) {
    List<ViewInodeRow> rows = new ArrayList<>();
    long directory = ROOT_ID;
    for (String name : names) {
      ViewInodeRow row = child(directory, name);
      if (row == null) {
        return rows;
      }
      rows.add(row);
      if (row.hasFile()) {
        return rows;
      }
      directory = row.getDirectory().getDirectoryId();
    }
    return rows;
  }

  private static List<String> names(String path) {
    return List.of(path.split("/")).stream().filter(name -> !name.isEmpty()).toList();
  }

  /** If the view has two inodes of one name for a moment, the newer one counts. */
  private ViewInodeRow child(long directory, String name) {
    ViewInodeRow[] found = {null};
    store.eachEntry(
        directory,
        ViewStore.exactly(name),
        ViewStore.FROM_START,
        (rest, id) -> {
          found[0] = store.inode(id);
          return true;
        });
    return found[0];
  }

  /**
   * The entries of a directory whose names begin so, in the order of the bytes of their names.
   *
   * @param directory empty: "/"
   */
  InodePage entries(Optional<ViewInodeRow> directory, String begin, byte[] after, int limit) {
    long id = directory.map(row -> row.getDirectory().getDirectoryId()).orElse(ROOT_ID);
    List<InodeView> found = new ArrayList<>();
    byte[][] last = {null};
    boolean[] more = {false};
    store.eachEntry(id, ViewStore.utf8(begin), after, collect(found, limit, last, more));
    return new InodePage(found, more[0] ? last[0] : null);
  }

  /** Files and directories anywhere whose names begin so. */
  InodePage named(String begin, byte[] after, int limit) {
    List<InodeView> found = new ArrayList<>();
    byte[][] last = {null};
    boolean[] more = {false};
    store.eachNamed(ViewStore.utf8(begin), after, collect(found, limit, last, more));
    return new InodePage(found, more[0] ? last[0] : null);
  }

  private ViewStore.NameVisitor collect(
      List<InodeView> found, int limit, byte[][] last, boolean[] more) {
    return (rest, id) -> {
      if (found.size() == limit) {
        more[0] = true;
        return false;
      }
      ViewInodeRow row = store.inode(id);
      if (row != null) {
        found.add(InodeView.of(row));
        last[0] = rest;
      }
      return true;
    };
  }

  /**
   * Visits the files at and below a path, a directory after the other; return false to stop.
   *
   * @param most so many files and directories are looked at
   * @return whether all were looked at
   */
  boolean eachFileBelow(String path, int most, Predicate<FileView> visitor) {
    Optional<ViewInodeRow> top = at(path);
    if (top.isPresent() && top.get().hasFile()) {
      return visitor.test(ViewReader.file(top.get()));
    }
    if (top.isEmpty() && !names(path).isEmpty()) {
      return true;
    }
    int[] looked = {0};
    Deque<Long> left = new ArrayDeque<>();
    left.push(top.map(row -> row.getDirectory().getDirectoryId()).orElse(ROOT_ID));
    boolean[] wanted = {true};
    while (!left.isEmpty() && wanted[0]) {
      store.eachEntry(
          left.pop(),
          new byte[0],
          ViewStore.FROM_START,
          (rest, id) -> {
            if (looked[0]++ == most) {
              wanted[0] = false;
              return false;
            }
            ViewInodeRow row = store.inode(id);
            if (row != null && row.hasFile()) {
              wanted[0] = visitor.test(ViewReader.file(row));
            } else if (row != null) {
              left.push(id);
            }
            return wanted[0];
          });
    }
    return wanted[0];
  }

  /** The name of an inode: the last part of its path. */
  static String nameOf(ViewInodeRow row) {
    return nameOf(pathOf(row));
  }

  static String pathOf(ViewInodeRow row) {
    return row.hasFile() ? row.getFile().getPath() : row.getDirectory().getPath();
  }

  static String nameOf(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
