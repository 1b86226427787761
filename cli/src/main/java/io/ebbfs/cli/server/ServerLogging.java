package io.ebbfs.cli.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.log4j.ConsoleAppender;
import org.apache.log4j.EnhancedPatternLayout;
import org.apache.log4j.PropertyConfigurator;
import org.apache.log4j.RollingFileAppender;

/**
 * Where the messages of a server process go: to the standard output, or to a file that is rotated.
 */
final class ServerLogging {
  private static final String PROPERTY = "log4j.configuration";
  private static final String APPENDER = "log4j.appender.out";
  private static final String TEXT = "%d{ISO8601} %-5p [%t] %c{1}: %m%n";

  /** Ten files and the one that is written take 704 MiB. */
  private static final String FILE_SIZE = "64MB";

  private static final String OLD_FILES = "10";

  private ServerLogging() {}

  /**
   * Sets the log up, unless the system property log4j.configuration names a file for it. Call it
   * before any log message.
   *
   * @param role the name of the process, which the log file has
   * @throws IOException with a message for the operator if the directory cannot be written
   */
  static void use(String role, ClusterConfig config) throws IOException {
    if (System.getProperty(PROPERTY) != null) {
      return;
    }
    Properties log = new Properties();
    try (InputStream in = ServerLogging.class.getResourceAsStream("/server-log4j.properties")) {
      log.load(in);
    }
    log.setProperty(APPENDER + ".layout", layout(config).getName());
    log.setProperty(APPENDER + ".layout.ConversionPattern", TEXT);
    log.setProperty(APPENDER, ConsoleAppender.class.getName());
    if (!config.logDirectory().isEmpty()) {
      log.setProperty(APPENDER, RollingFileAppender.class.getName());
      log.setProperty(APPENDER + ".File", file(role, config).toString());
      log.setProperty(APPENDER + ".MaxFileSize", FILE_SIZE);
      log.setProperty(APPENDER + ".MaxBackupIndex", OLD_FILES);
    }
    PropertyConfigurator.configure(log);
  }

  private static Class<?> layout(ClusterConfig config) {
    return config.jsonLog() ? JsonLayout.class : EnhancedPatternLayout.class;
  }

  /** The log file of a process. */
  static Path file(String role, ClusterConfig config) throws IOException {
    Path directory = Path.of(config.logDirectory());
    if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
      throw new IOException(
          "'logDirectory: %s' is no directory that this user may write; make it, or change %s"
              .formatted(directory, ClusterConfig.FILE));
    }
    return directory.resolve(role + ".log");
  }
}
