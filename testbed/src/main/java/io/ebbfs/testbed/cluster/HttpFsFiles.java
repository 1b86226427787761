package io.ebbfs.testbed.cluster;

import io.ebbfs.protocol.rpc.SecretFile;
import io.ebbfs.testbed.HadoopSite;
import io.ebbfs.testbed.process.Launcher;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration of Apache HttpFS, which serves WebHDFS: an HTTP server with a stock client of
 * HDFS inside. It acts for the users whom requests name, which the namenode allows to the user of
 * its process by {@code proxyUsers}.
 *
 * @param directory for its configuration and its files
 */
public record HttpFsFiles(Path directory) {
  /** The module with its class path. */
  public static final String MODULE = "httpfs";

  /** A file that is written takes up to 5 MiB of the heap. */
  public static final String HEAP = "512m";

  /** Requests at a time. Others wait, up to a limit, and are then refused. */
  private static final int THREADS = 64;

  private static final int WAITING = 256;

  public Path conf() {
    return directory.resolve("conf");
  }

  /**
   * Writes the configuration.
   *
   * @param client with the directory {@link #conf}
   * @param host the address to listen at
   */
  public void write(StockClient client, String host, int port) throws IOException {
    Files.createDirectories(conf());
    client.writeConf();
    Files.copy(
        conf().resolve("log4j.properties"),
        conf().resolve("httpfs-log4j.properties"),
        StandardCopyOption.REPLACE_EXISTING);
    SecretFile.create(secret());
    for (String folder : List.of("logs", "temp", "tmp")) {
      Files.createDirectories(directory.resolve(folder));
    }
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("httpfs.http.hostname", host);
    settings.put("httpfs.http.port", Integer.toString(port));
    settings.put("httpfs.hadoop.config.dir", conf().toString());
    settings.put("hadoop.http.authentication.signature.secret.file", secret().toString());
    settings.put("hadoop.http.max.threads", Integer.toString(THREADS));
    settings.put("hadoop.http.socket.backlog.size", Integer.toString(WAITING));
    settings.put("hadoop.tmp.dir", directory.resolve("tmp").toString());
    HadoopSite.write(conf(), "httpfs-site.xml", settings);
  }

  private Path secret() {
    return directory.resolve("signature.key");
  }

  /** The command line of HttpFS in the foreground. */
  public List<String> command(String classPath, String heap) {
    return List.of(
        Launcher.java(),
        "-Xmx" + heap,
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "--add-opens=java.base/java.lang=ALL-UNNAMED", // JAXB, which its JSON needs, defines
        // classes
        "-Djava.net.preferIPv4Stack=true",
        "-Dhttpfs.home.dir=" + directory,
        "-Dhttpfs.config.dir=" + conf(),
        "-Dhttpfs.log.dir=" + directory.resolve("logs"),
        "-Dhttpfs.temp.dir=" + directory.resolve("temp"),
        "-cp",
        conf() + File.pathSeparator + classPath,
        "org.apache.hadoop.fs.http.server.HttpFSServerWebServer");
  }
}
