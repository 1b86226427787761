package io.ebbfs.namenode.files.inodes;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.hdfs.DFSUtil;

/** An absolute path, split into components. The root has no component. Immutable. */
public final class FsPath {
  private final List<String> names;

  private FsPath(List<String> names) {
    this.names = names;
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
    for (String name : path.split("/")) {
      if (!name.isEmpty()) {
        names.add(name);
      }
    }
    return new FsPath(List.copyOf(names));
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
    return names.isEmpty();
  }

  public int depth() {
    return names.size();
  }

  /** The name at a depth, from 1. */
  public String name(int depth) {
    return names.get(depth - 1);
  }

  public byte[] nameBytes(int depth) {
    return name(depth).getBytes(StandardCharsets.UTF_8);
  }

  public String lastName() {
    return name(depth());
  }

  public FsPath child(String name) {
    List<String> longer = new ArrayList<>(names);
    longer.add(name);
    return new FsPath(List.copyOf(longer));
  }

  /** The first components of this path. */
  FsPath prefix(int depth) {
    return depth == depth() ? this : new FsPath(names.subList(0, depth));
  }

  public boolean isAbove(FsPath other) {
    return depth() < other.depth() && names.equals(other.names.subList(0, depth()));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FsPath path && names.equals(path.names);
  }

  @Override
  public int hashCode() {
    return names.hashCode();
  }

  @Override
  public String toString() {
    return "/" + String.join("/", names);
  }
}
