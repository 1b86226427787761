package io.ebbfs.raid.mapreduce;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * The jar that YARN hands to executors: the classes of the raid-node and of the modules that it
 * uses, as this process runs them. Hadoop's classes, and what Hadoop brings along, are on every
 * machine of a YARN cluster.
 */
final class JobJar {
  /** One class of each module. */
  private static final List<Class<?>> MODULES =
      List.of(JobJar.class, CodingProtocol.class, CodeRegistry.class, FailPoint.class);

  private static final String OURS = "io/ebbfs";

  private JobJar() {}

  /** Writes the jar; an earlier one is replaced. */
  static void write(Path file) throws IOException {
    Set<URI> places = new LinkedHashSet<>();
    for (Class<?> type : MODULES) {
      places.add(place(type));
    }
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out)) {
      for (URI place : places) {
        add(Path.of(place), jar);
      }
    }
  }

  /** The directory or jar that a class comes from. */
  private static URI place(Class<?> type) {
    try {
      return type.getProtectionDomain().getCodeSource().getLocation().toURI();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void add(Path place, JarOutputStream jar) throws IOException {
    if (Files.isDirectory(place)) {
      addBelow(place, jar);
      return;
    }
    try (FileSystem inside = FileSystems.newFileSystem(place, Map.of())) {
      addBelow(inside.getPath("/"), jar);
    }
  }

  private static void addBelow(Path root, JarOutputStream jar) throws IOException {
    try (Stream<Path> files = Files.walk(root.resolve(OURS))) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        jar.putNextEntry(new ZipEntry(root.relativize(file).toString()));
        Files.copy(file, jar);
        jar.closeEntry();
      }
    }
  }
}
