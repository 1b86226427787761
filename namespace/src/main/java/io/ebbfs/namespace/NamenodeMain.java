package io.ebbfs.namespace;

import io.ebbfs.settings.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Starts a namenode process and stops it cleanly on SIGTERM. */
public final class NamenodeMain {
  /** The exit code of a start that failed. */
  static final int REFUSED = 2;

  private NamenodeMain() {}

  public static void main(String[] arguments) {
    if (System.getProperty("log4j.configuration") == null) {
      System.setProperty("log4j.configuration", "namenode-log4j.properties");
    }
    try {
      run(List.of(arguments));
    } catch (ConfigException | IOException e) {
      System.err.println("namenode: " + e.getMessage());
      System.exit(REFUSED);
    }
  }

  private static void run(List<String> arguments) throws ConfigException, IOException {
    NamenodeConfig config = NamenodeConfig.of(arguments);
    NamenodeServer server = NamenodeServer.start(config, Clock.systemUTC(), new SecureRandom());
    Runtime.getRuntime().addShutdownHook(new Thread(server::close, "stop"));
    if (config.readyFile() != null) {
      writeReady(config.readyFile(), server.address().getPort());
    }
    awaitForever();
  }

  /** The file appears at once and whole, so that whoever waits for it can read it. */
  private static void writeReady(Path file, int port) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    Files.writeString(temporary, port + "\n", StandardCharsets.UTF_8);
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void awaitForever() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
