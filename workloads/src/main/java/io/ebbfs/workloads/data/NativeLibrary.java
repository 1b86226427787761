package io.ebbfs.workloads.data;

import io.ebbfs.testbed.Build;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Hadoop's native library, which computes checksums; all JVMs of HDFS and of clients get it. */
final class NativeLibrary {
  private static final String PLACE = "testbed/hdfs/target/native/nativelib/Linux-amd64";

  private NativeLibrary() {}

  /** The flag of a JVM that finds it; none if the library is not there. */
  static List<String> flags(Build build) {
    Path directory = build.home().resolve(PLACE);
    return Files.exists(directory.resolve("libhadoop.so"))
        ? List.of("-Djava.library.path=" + directory)
        : List.of();
  }
}
