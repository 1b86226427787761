package io.ebbfs.testbed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes configuration files of Hadoop, such as {@code core-site.xml}. */
public final class HadoopSite {
  private HadoopSite() {}

  /**
   * Writes a file with these properties, in their order. Values are written as they are, so they
   * must not contain characters that XML escapes.
   *
   * @param directory is made if it is missing
   */
  public static void write(Path directory, String file, Map<String, String> properties)
      throws IOException {
    StringBuilder text = new StringBuilder("<configuration>\n");
    properties.forEach(
        (name, value) ->
            text.append(
                "<property><name>%s</name><value>%s</value></property>%n".formatted(name, value)));
    Files.createDirectories(directory);
    Files.writeString(directory.resolve(file), text.append("</configuration>\n"));
  }
}
