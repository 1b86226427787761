package io.ebbfs.testbed;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the built programs below the root of the source tree, or of a release. A release has the
 * folders {@code lib} and {@code bin} (see packaging/package.sh).
 *
 * @param home the root of the source tree or of the release
 */
public record Build(Path home) {
  private static final String REMEDY = "build it with './ebb build'";

  /** The tree that the running classes come from, unless the property ebbfs.home names another. */
  public static Build find() throws ClusterException {
    String home = System.getProperty("ebbfs.home", System.getenv("EBBFS_HOME"));
    if (home != null) {
      return new Build(Path.of(home).toAbsolutePath().normalize());
    }
    try {
      Path classes =
          Path.of(Build.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      for (Path at = classes; at != null; at = at.getParent()) {
        if (Files.exists(at.resolve("testbed/stock-client/pom.xml"))) {
          return new Build(at);
        }
      }
      throw new ClusterException(
          "no source tree of EbbFS above %s: name it with -Debbfs.home=DIR".formatted(classes));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The class path of a stock HDFS client: Hadoop's own jars and nothing of this project. */
  public String stockClientClassPath() throws ClusterException {
    return classPath("testbed/stock-client");
  }

  /** The directory of the compiled programs that run on a stock client's class path. */
  public Path stockTools() {
    return isRelease()
        ? libraries().resolve("tools")
        : home.resolve("testbed/stock-client/target/tools");
  }

  /**
   * The same of an older version.
   *
   * @param version a version with a module of its own, such as 2.10
   */
  public String stockClientClassPath(String version) throws ClusterException {
    return classPath("testbed/stock-client-" + version);
  }

  /** The class path of a module: its own classes, if it has any, and its dependencies. */
  public String classPath(String module) throws ClusterException {
    if (isRelease()) {
      return releasedClassPath(module.substring(module.lastIndexOf('/') + 1));
    }
    Path target = home.resolve(module).resolve("target");
    Path list = target.resolve("classpath.txt");
    try {
      String needs = Files.readString(list).strip();
      Path classes = target.resolve("classes");
      return Files.isDirectory(classes) ? classes + File.pathSeparator + needs : needs;
    } catch (IOException e) {
      throw new ClusterException(
          "module %s is not built (%s is missing): %s".formatted(module, list, REMEDY), e);
    }
  }

  private boolean isRelease() {
    return Files.isDirectory(libraries());
  }

  private Path libraries() {
    return home.resolve("lib");
  }

  private String releasedClassPath(String program) throws ClusterException {
    Path list = libraries().resolve(program + ".classpath");
    try (Stream<String> jars = Files.lines(list)) {
      return jars.map(jar -> libraries().resolve(jar).toString())
          .collect(Collectors.joining(File.pathSeparator));
    } catch (IOException e) {
      throw new ClusterException(
          "this release has no program %s (%s is missing)".formatted(program, list), e);
    }
  }

  /** The chunk server's binary. */
  public Path chunkServer() throws ClusterException {
    if (isRelease()) {
      Path binary = home.resolve("bin/chunkserver");
      if (Files.isExecutable(binary)) {
        return binary;
      }
      throw new ClusterException(
          "the chunk server is not installed (%s is missing): install the package ebbfs-chunkserver"
              .formatted(binary));
    }
    Path directory = home.resolve("chunk-cluster/target/cmake");
    for (String place : List.of("chunkserver", "src/chunkserver", "src/chunkserver/chunkserver")) {
      Path binary = directory.resolve(place);
      if (Files.isRegularFile(binary) && Files.isExecutable(binary)) {
        return binary;
      }
    }
    throw new ClusterException(
        "the chunk server is not built (%s is missing): %s"
            .formatted(directory.resolve("chunkserver"), REMEDY));
  }

  /** The program behind {@code ebb fs}. */
  public Path nativeShell() throws ClusterException {
    return clientProgram("ebbfs");
  }

  /** The program behind {@code ebb mount} and {@code ebb umount}. */
  public Path nativeMount() throws ClusterException {
    return clientProgram("ebbfs-mount");
  }

  /** The native client of {@code ebb bench data}, which no package has. */
  public Path dataTool() throws ClusterException {
    return unpackagedProgram("data_tool");
  }

  /** A native writer of records for tests, which no package has. */
  public Path appendTool() throws ClusterException {
    return unpackagedProgram("append_tool");
  }

  private Path unpackagedProgram(String name) throws ClusterException {
    Path program = home.resolve("chunk-cluster/target/cmake").resolve(name);
    if (!Files.isExecutable(program)) {
      throw new ClusterException(
          "the native program %s is not built (%s is missing): %s"
              .formatted(name, program, REMEDY));
    }
    return program;
  }

  private Path clientProgram(String name) throws ClusterException {
    Path program = home.resolve(isRelease() ? "bin" : "chunk-cluster/target/cmake").resolve(name);
    if (!Files.isExecutable(program)) {
      throw new ClusterException(
          "%s is not there (%s is missing): %s"
              .formatted(name, program, isRelease() ? "install the package ebbfs-client" : REMEDY));
    }
    return program;
  }

  /** The C library of the native client. */
  public Path nativeLibrary() throws ClusterException {
    Path library =
        home.resolve(isRelease() ? "native/lib" : "chunk-cluster/target/cmake")
            .resolve("libebbfs.so");
    if (!Files.isRegularFile(library)) {
      throw new ClusterException(
          "the C library is not there (%s is missing): %s"
              .formatted(library, isRelease() ? "install the package libebbfs" : REMEDY));
    }
    return library;
  }

  /** The example configuration. */
  public Path conf() {
    return home.resolve("conf");
  }
}
