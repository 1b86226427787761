package io.ebbfs.workloads.demo;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The regular files below a directory, in the order of their paths, each assigned to one family of
 * codes such that whole directories stay together and both families get about half of the bytes.
 */
record DataSet(List<LocalFile> files) {
  /** The code families, and the trees of the file system in which each runs. */
  enum Family {
    PRODUCT("/demo/product"),
    LRC("/demo/lrc");

    final String tree;

    Family(String tree) {
      this.tree = tree;
    }

    /** The name of the family in policies and reports. */
    String key() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }

    CodeFamily codes() {
      return CodeRegistry.builtIn().family(key());
    }
  }

  /** A file to store. */
  record LocalFile(Path local, String remote, long bytes, Family family) {}

  long bytes() {
    return files.stream().mapToLong(LocalFile::bytes).sum();
  }

  long bytes(Family family) {
    return files.stream().filter(f -> f.family() == family).mapToLong(LocalFile::bytes).sum();
  }

  /**
   * @throws DemoException if the directory cannot be read as a whole or holds no file
   */
  static DataSet scan(Path directory) {
    if (!Files.isDirectory(directory)) {
      throw new DemoException(
          "'%s' is not a directory: name one that holds the files to store".formatted(directory));
    }
    Map<Path, List<Path>> byDirectory = new TreeMap<>();
    List<String> unreadable = new ArrayList<>();
    walk(directory, byDirectory, unreadable);
    if (!unreadable.isEmpty()) {
      throw new DemoException(
          "cannot read %d of the files below '%s' (first: %s): make them readable or name another directory"
              .formatted(unreadable.size(), directory, unreadable.get(0)));
    }
    List<LocalFile> files = assign(directory, byDirectory);
    if (files.isEmpty()) {
      throw new DemoException(
          "'%s' holds no regular file: name a directory that does".formatted(directory));
    }
    return new DataSet(files);
  }

  private static void walk(
      Path directory, Map<Path, List<Path>> byDirectory, List<String> unreadable) {
    try {
      Files.walkFileTree(
          directory,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              if (attributes.isRegularFile()) {
                if (Files.isReadable(file)) {
                  byDirectory.computeIfAbsent(file.getParent(), d -> new ArrayList<>()).add(file);
                } else {
                  unreadable.add(file.toString());
                }
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
              unreadable.add(file + " (" + e.getMessage() + ")");
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new DemoException("cannot list '%s': %s".formatted(directory, e.getMessage()));
    }
  }

  private static List<LocalFile> assign(Path root, Map<Path, List<Path>> byDirectory) {
    Map<Family, Long> bytes = new EnumMap<>(Family.class);
    List<LocalFile> files = new ArrayList<>();
    byDirectory.forEach(
        (directory, inside) -> {
          Family family =
              bytes.getOrDefault(Family.PRODUCT, 0L) <= bytes.getOrDefault(Family.LRC, 0L)
                  ? Family.PRODUCT
                  : Family.LRC;
          inside.sort(null);
          for (Path file : inside) {
            long length = file.toFile().length();
            String remote = family.tree + "/" + root.relativize(file);
            files.add(new LocalFile(file, remote, length, family));
            bytes.merge(family, length, Long::sum);
          }
        });
    return files;
  }
}
