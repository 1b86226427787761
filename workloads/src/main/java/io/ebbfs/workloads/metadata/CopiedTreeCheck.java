package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * Checks by a stock client that a namenode serves a copied tree: its directories, the names in some
 * of them, and some files with their content. Not thread-safe.
 */
final class CopiedTreeCheck {
  private static final int DIRECTORIES = 5;
  private static final int FILES = 20;

  private final FileSystem system;
  private final CopiedTree tree;
  private final Random random = new Random(1);

  CopiedTreeCheck(FileSystem system, CopiedTree tree) {
    this.system = system;
    this.tree = tree;
  }

  /**
   * Reads from the namenode and from its servers of blocks.
   *
   * @throws IOException if anything is missing, or is there and should not be
   */
  void run() throws IOException {
    if (tree.hasDirectories()) {
      checkNames(
          tree.directory(), CopiedTree.directoryName(tree.directories() - 1), tree.directories());
    }
    for (int i = 0; i < Math.min(DIRECTORIES, tree.directories()); i++) {
      int number = random.nextInt(tree.directories());
      int files = tree.filesIn(number);
      checkNames(tree.directoryPath(number), CopiedTree.fileName(files - 1), files);
    }
    byte[] content = content(tree.firstFile());
    for (int i = 0; i < FILES; i++) {
      int directory = random.nextInt(tree.directories());
      String file =
          tree.directoryPath(directory)
              + "/"
              + CopiedTree.fileName(random.nextInt(tree.filesIn(directory)));
      if (!Arrays.equals(content, content(file))) {
        throw new IOException("%s differs from %s".formatted(file, tree.firstFile()));
      }
    }
  }

  /** The names are numbered, so their number and the last one tell whether all are there. */
  private void checkNames(String directory, String last, int expected) throws IOException {
    Set<String> names = new HashSet<>();
    RemoteIterator<FileStatus> entries = system.listStatusIterator(new Path(directory));
    while (entries.hasNext()) {
      names.add(entries.next().getPath().getName());
    }
    if (names.size() != expected || !names.contains(last)) {
      throw new IOException(
          "%s lists %d names, and is to list %d, the last of which is %s"
              .formatted(directory, names.size(), expected, last));
    }
  }

  private byte[] content(String file) throws IOException {
    try (FSDataInputStream in = system.open(new Path(file))) {
      return in.readAllBytes();
    }
  }
}
