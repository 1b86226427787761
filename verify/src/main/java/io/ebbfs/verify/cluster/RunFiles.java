package io.ebbfs.verify.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where a verification works, and where its figures go. */
public final class RunFiles {
  private RunFiles() {}

  /** The directory that was asked for, or a new one for temporary files. */
  public static Path place(Optional<Path> asked, String temporaryName) throws IOException {
    return asked.isPresent() ? asked.get() : Files.createTempDirectory(temporaryName);
  }

  /** Writes figures to the file that was asked for, if any. */
  public static void write(Optional<Path> file, Map<String, Object> figures) throws IOException {
    if (file.isPresent()) {
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .writeValue(file.get().toFile(), figures);
    }
  }
}
