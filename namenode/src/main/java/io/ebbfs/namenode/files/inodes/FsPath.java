package io.ebbfs.namenode.files.inodes;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.hdfs.DFSUtil;

/**
 * An absolute path, split into components. The root has no component. Immutable.
 *
 * <p>A path and its prefixes share their names, and the bytes of a name are computed once: a call
 * looks up each name of its path several times.
 */
public final class FsPath {
  private final String[] names;
  private final byte[][] bytes;
  private final int depth;

  private FsPath(String[] names, byte[][] bytes, int depth) {
    this.names = names;
    this.bytes = bytes;
    this.depth = depth;
  }

  private FsPath(String[] names) {
    this(names, new byte[names.length][], names.length);
  }

  /**
   * Parses a path to an existing file or directory.
   *
   * @throws InvalidPathException if it is not absolute
   */
  public static FsPath parse(String path) {
    if (path == null || !path.startsWith("/")) {
      throw new InvalidPathException(
          String.valueOf(path), "absolute path required: it has to start with '/'");
    }
    List<String> names = new ArrayList<>();
    int start = 1;
    while (start < path.length()) {
      int slash = path.indexOf('/', start);
      int end = slash < 0 ? path.length() : slash;
      if (end > start) {
        names.add(path.substring(start, end));
      }
      start = end + 1;
    }
    return new FsPath(names.toArray(String[]::new));
  }

  /**
   * Parses a path to a file or directory that is to be made.
   *
   * @throws InvalidPathException if HDFS would not accept it as a name
   */
  public static FsPath parseNew(String path) {
    if (!DFSUtil.isValidName(path)) {
      throw new InvalidPathException("Invalid file name: " + path);
    }
    return parse(path);
  }

  public boolean isRoot() {
    return depth == 0;
  }

  public int depth() {
    return depth;
  }

  /** The name at a depth, from 1. */
  public String name(int depth) {
    return names[Objects.checkIndex(depth - 1, this.depth)];
  }

  /** The name at a depth in UTF-8. Not a copy: do not change it. */
  public byte[] nameBytes(int depth) {
    byte[] known = bytes[Objects.checkIndex(depth - 1, this.depth)];
    if (known == null) {
      known = names[depth - 1].getBytes(StandardCharsets.UTF_8);
      bytes[depth - 1] = known;
    }
    return known;
  }

  public String lastName() {
    return name(depth);
  }

  public FsPath child(String name) {
    String[] longer = Arrays.copyOf(names, depth + 1);
    longer[depth] = name;
    return new FsPath(longer);
  }

  /** The first components of this path. */
  FsPath prefix(int depth) {
    return depth == this.depth ? this : new FsPath(names, bytes, depth);
  }

  /** How many names two paths have in common from the root on. */
  int commonDepth(FsPath other) {
    int common = 0;
    while (common < depth && common < other.depth && names[common].equals(other.names[common])) {
      common++;
    }
    return common;
  }

  public boolean isAbove(FsPath other) {
    return depth < other.depth && Arrays.equals(names, 0, depth, other.names, 0, depth);
  }

  /** Whether the other path is this one, or below it. */
  public boolean isAtOrAbove(FsPath other) {
    return equals(other) || isAbove(other);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FsPath path
        && Arrays.equals(names, 0, depth, path.names, 0, path.depth);
  }

  @Override
  public int hashCode() {
    return Arrays.asList(names).subList(0, depth).hashCode();
  }

  @Override
  public String toString() {
    return "/" + String.join("/", Arrays.asList(names).subList(0, depth));
  }
}
