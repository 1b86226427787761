package io.ebbfs.cli.server;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.ConfigProblem;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the processes of a cluster agree on: {@code cluster.yaml}, the same file on every machine.
 *
 * @param namenodes where clients and chunk servers reach the namenodes
 * @param store the nodes of the metadata store that several namenodes share; empty: one namenode
 *     keeps its own
 * @param brokers bootstrap servers of Kafka; empty for none
 * @param serviceKey the file with the key of the cluster's services; empty for none
 * @param host the address of this machine; empty: the one that its route to the namenode has
 * @param jsonLog whether each log message is a JSON object
 * @param logDirectory for log files, which are rotated; empty: messages go to the standard output
 * @param control the control plane
 */
public record ClusterConfig(
    List<InetSocketAddress> namenodes,
    List<InetSocketAddress> store,
    List<InetSocketAddress> brokers,
    String serviceKey,
    String host,
    boolean jsonLog,
    String logDirectory,
    Control control) {
  static final String FILE = "cluster.yaml";

  /**
   * The control plane.
   *
   * @param data for the state of the manager and of the raid-node
   * @param httpPort of dashboard and REST API; of a raid-node alone: of its probes and metrics
   * @param apiToken the file with the token of API requests that change something; empty for none
   */
  public record Control(String data, int httpPort, String apiToken) {}

  static final ClusterConfig DEFAULTS =
      new ClusterConfig(
          List.of(),
          List.of(),
          List.of(),
          "",
          "",
          false,
          "",
          new Control("control-data", 8090, ""));

  /** Reads the file in a directory; all defaults if there is none. */
  public static ClusterConfig read(Path confDirectory) throws ConfigException {
    Path file = confDirectory.resolve(FILE);
    return Files.exists(file)
        ? YamlFile.parse(file, YamlFile.text(file), ClusterConfig::of)
        : DEFAULTS;
  }

  private static ClusterConfig of(Section top) {
    Section control = top.section("control");
    ClusterConfig config =
        new ClusterConfig(
            addresses(top, "namenodes"),
            addresses(top, "store"),
            addresses(top, "kafka"),
            top.text("serviceKey").orElse(""),
            top.text("host").orElse(""),
            isJson(top),
            top.text("logDirectory").orElse(""),
            new Control(
                control.text("data").orElse(DEFAULTS.control.data),
                control.integer("httpPort", DEFAULTS.control.httpPort, 0, 65_535),
                control.text("apiToken").orElse("")));
    control.end();
    return config;
  }

  private static List<InetSocketAddress> addresses(Section top, String key) {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (String text : top.text(key).orElse("").split(",")) {
      if (!text.isBlank()) {
        try {
          addresses.add(new HostAndPort().convert(text.strip()));
        } catch (RuntimeException e) {
          top.problem(
              key,
              "'%s' holds '%s': %s".formatted(key, text, e.getMessage()),
              "write something like host.example.org:8020");
        }
      }
    }
    return addresses;
  }

  private static boolean isJson(Section top) {
    String log = top.text("log").orElse("text");
    if (!List.of("text", "json").contains(log)) {
      top.problem("log", "'log: " + log + "' is unknown", "write text or json");
    }
    return log.equals("json");
  }

  /** The namenode: HOST:PORT. */
  public String namenodeAddress() throws ConfigException {
    InetSocketAddress address =
        namenode().orElseThrow(() -> problem("'namenodes' is missing", "write HOST:PORT"));
    return address.getHostString() + ":" + address.getPort();
  }

  /** All namenodes, each as HOST:PORT; one at least. */
  public List<String> namenodeAddresses() throws ConfigException {
    namenodeAddress();
    return texts(namenodes);
  }

  /** A problem that only a role sees. */
  static ConfigException problem(String message, String remedy) {
    return new ConfigException(List.of(new ConfigProblem(FILE, 0, message, remedy)));
  }

  /** The brokers as Kafka writes them: host:port, separated by commas. */
  String kafka() {
    return String.join(",", texts(brokers));
  }

  /** The nodes of the store, each as host:port. */
  List<String> storeNodes() {
    return texts(store);
  }

  private static List<String> texts(List<InetSocketAddress> addresses) {
    return addresses.stream()
        .map(address -> address.getHostString() + ":" + address.getPort())
        .toList();
  }

  /** The namenode that is asked first. */
  public Optional<InetSocketAddress> namenode() {
    return namenodes.stream().findFirst();
  }
}
