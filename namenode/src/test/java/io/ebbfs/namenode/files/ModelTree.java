package io.ebbfs.namenode.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.security.AccessControlException;

/** A model of the namespace of HDFS: a sorted map from path to true, for a directory, or false. */
final class ModelTree {
  private final TreeMap<String, Boolean> entries = new TreeMap<>();

  ModelTree() {
    entries.put("/", true);
  }

  List<String> paths() {
    List<String> paths = new ArrayList<>();
    entries.forEach(
        (path, directory) -> paths.add(directory && path.length() > 1 ? path + "/" : path));
    paths.remove("/");
    return paths;
  }

  private static String parent(String path) {
    int slash = path.lastIndexOf('/');
    return slash == 0 ? "/" : path.substring(0, slash);
  }

  private boolean isDirectory(String path) {
    return Boolean.TRUE.equals(entries.get(path));
  }

  private boolean isFile(String path) {
    return Boolean.FALSE.equals(entries.get(path));
  }

  private String fileAbove(String path) {
    for (String above = path; !above.equals("/"); ) {
      above = parent(above);
      if (isFile(above)) {
        return above;
      }
    }
    return null;
  }

  private void traverse(String path) throws IOException {
    if (fileAbove(path) != null) {
      throw new AccessControlException("file in the way");
    }
  }

  private void traverseToCreate(String path) throws IOException {
    if (fileAbove(path) != null) {
      throw new ParentNotDirectoryException("file in the way");
    }
  }

  private TreeMap<String, Boolean> below(String path) {
    String prefix = path.equals("/") ? "/" : path + "/";
    TreeMap<String, Boolean> found = new TreeMap<>();
    entries.forEach(
        (p, d) -> {
          if (p.startsWith(prefix) && !p.equals("/")) {
            found.put(p, d);
          }
        });
    return found;
  }

  boolean mkdirs(String path, boolean makeParents) throws IOException {
    traverseToCreate(path);
    if (isFile(path)) {
      throw new FileAlreadyExistsException(path);
    }
    if (isDirectory(path)) {
      return true;
    }
    requireParent(path, makeParents);
    makeDirectories(path);
    return true;
  }

  private void requireParent(String path, boolean makeParents) throws IOException {
    if (!makeParents && !entries.containsKey(parent(path))) {
      throw new FileNotFoundException(path);
    }
  }

  private void makeDirectories(String path) {
    for (String p = path; !p.equals("/"); p = parent(p)) {
      entries.put(p, true);
    }
  }

  void create(String path, boolean overwrite, boolean makeParents) throws IOException {
    traverseToCreate(path);
    if (isDirectory(path) || isFile(path) && !overwrite) {
      throw new FileAlreadyExistsException(path);
    }
    requireParent(path, makeParents);
    makeDirectories(parent(path));
    entries.put(path, false);
  }

  boolean delete(String path, boolean recursive) throws IOException {
    traverse(path);
    if (!entries.containsKey(path)) {
      return false;
    }
    if (!recursive && !below(path).isEmpty()) {
      throw new PathIsNotEmptyDirectoryException(path);
    }
    if (path.equals("/")) {
      return false;
    }
    below(path).keySet().forEach(entries::remove);
    entries.remove(path);
    return true;
  }

  boolean rename(String src, String dst) throws IOException {
    traverse(src);
    traverseToCreate(dst);
    String to =
        isDirectory(dst) && !src.equals("/")
            ? (dst.equals("/") ? "" : dst) + src.substring(src.lastIndexOf('/'))
            : dst;
    if (!entries.containsKey(src) || src.equals("/")) {
      return false;
    }
    if (src.equals(to)) {
      return true;
    }
    if (to.startsWith(src + "/") || entries.containsKey(to) || !isDirectory(parent(to))) {
      return false;
    }
    move(src, to);
    return true;
  }

  void rename2(String src, String dst, boolean overwrite) throws IOException {
    traverse(src);
    traverseToCreate(dst);
    if (!entries.containsKey(src)) {
      throw new FileNotFoundException(src);
    }
    if (src.equals("/")) {
      throw new IOException("root");
    }
    if (src.equals(dst)) {
      throw new FileAlreadyExistsException(dst);
    }
    if (dst.startsWith(src + "/") || dst.equals("/")) {
      throw new IOException("under source, or root");
    }
    if (entries.containsKey(dst)) {
      if (isDirectory(dst) != isDirectory(src)) {
        throw new IOException("must both be directories");
      }
      if (!overwrite) {
        throw new FileAlreadyExistsException(dst);
      }
      if (!below(dst).isEmpty()) {
        throw new IOException("not empty");
      }
    }
    if (!entries.containsKey(parent(dst))) {
      throw new FileNotFoundException(dst);
    }
    move(src, dst);
  }

  private void move(String src, String dst) {
    Map<String, Boolean> moved = below(src);
    boolean directory = entries.remove(src);
    moved.keySet().forEach(entries::remove);
    entries.put(dst, directory);
    moved.forEach((path, d) -> entries.put(dst + path.substring(src.length()), d));
  }

  /**
   * True for a directory, false for a file, null if the path does not exist. The superuser, who
   * asks, is not told that a file is in the way.
   */
  Boolean kind(String path) {
    return entries.get(path);
  }

  List<String> names(String path) throws IOException {
    traverse(path);
    if (!entries.containsKey(path)) {
      return null;
    }
    if (isFile(path)) {
      return List.of("");
    }
    return below(path).keySet().stream()
        .filter(p -> parent(p).equals(path))
        .map(p -> p.substring(p.lastIndexOf('/') + 1))
        .sorted()
        .toList();
  }
}
