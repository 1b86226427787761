package io.ebbfs.workloads.metadata;

import java.util.Locale;

/**
 * A tree of many files that are all alike. A client makes its first file; the others are copies of
 * this file's metadata, and of its block if it has one.
 *
 * @param directory an absolute path
 * @param files how many, the first one included
 * @param perDirectory files in each directory below {@code directory}; 0: all files lie in it
 */
public record CopiedTree(String directory, int files, int perDirectory) {
  /** As {@code kNameLength} of the load generator. */
  private static final int NAME_LENGTH = 34;

  public CopiedTree {
    if (files < 1 || perDirectory < 0) {
      throw new IllegalArgumentException(
          "a tree of %d files, %d in each directory: give at least 1 and 0"
              .formatted(files, perDirectory));
    }
  }

  /** True if the files lie in directories below {@link #directory}. */
  public boolean hasDirectories() {
    return perDirectory > 0;
  }

  /** The directories that hold files. */
  public int directories() {
    return hasDirectories() ? (files + perDirectory - 1) / perDirectory : 1;
  }

  /** The files of a directory by its number. Only the last one may have fewer than the others. */
  public int filesIn(int directoryNumber) {
    return hasDirectories()
        ? Math.min(perDirectory, files - directoryNumber * perDirectory)
        : files;
  }

  /** The path of a directory that holds files. */
  String directoryPath(int number) {
    return hasDirectories() ? directory + "/" + directoryName(number) : directory;
  }

  public static String directoryName(int number) {
    return name("directory-", number);
  }

  /** The name of a file by its number in its directory. */
  public static String fileName(int number) {
    return name("file-", number);
  }

  private static String name(String word, int number) {
    return word + String.format(Locale.ROOT, "%0" + (NAME_LENGTH - word.length()) + "d", number);
  }

  /** The path of the file that a client makes. */
  public String firstFile() {
    return directoryPath(0) + "/" + fileName(0);
  }

  /** The tree as the load generator takes it. */
  String words() {
    return words(files);
  }

  /** The tree with its first file alone, as the load generator takes it. */
  String firstFileWords() {
    return words(1);
  }

  private String words(int count) {
    return "%s %d %d".formatted(directory, count, perDirectory);
  }
}
