package io.ebbfs.testbed.network;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A network on this machine whose links have a rate: a namespace for each chunk server, one for the
 * namenode, Kafka and the control plane, one for clients. A bridge joins them, and this machine
 * reaches them through it. The links of the chunk servers and of the clients are shaped to the rate
 * in each direction. All parts of a network have names with its number, so that anybody can remove
 * them. Needs root.
 *
 * @param number 0 to 255: the third byte of its addresses, and part of every name
 * @param rate of each shaped link and direction, as tc takes it: {@code 100mbit}
 */
public record ShapedNetwork(int number, String rate) {
  private static final Pattern RATE = Pattern.compile("[1-9][0-9]{0,5}(kbit|mbit|gbit)");
  private static final Path DEVICES = Path.of("/sys/class/net");
  private static final Path NAMESPACES = Path.of("/run/netns");
  private static final int FIRST_SERVER = 10;
  private static final int CONTROL_HOST = 2;
  private static final int CLIENT_HOST = 3;

  /**
   * The bytes that a link queues, as many as a switch has for a port. A shorter queue overflows
   * when many servers rebuild blocks at once. A dropped packet is sent again only after seconds if
   * it is the first of a connection, and a link moves many blocks in that time.
   */
  private static final String QUEUE = "1mb";

  /** Whether a text is the rate of a link: {@code 100mbit}. */
  public static boolean isRate(String text) {
    return RATE.matcher(text).matches();
  }

  /** A network whose number no other network on this machine has. Nothing is made yet. */
  public static ShapedNetwork choose(String rate) throws ClusterException {
    if (!isRate(rate)) {
      throw new ClusterException(
          "--rate %s is no rate of a link: write 100mbit, 1gbit or 500kbit".formatted(rate));
    }
    checkRoot();
    for (int number = 0; number < 256; number++) {
      if (!Files.exists(DEVICES.resolve("ebb" + number))) {
        return new ShapedNetwork(number, rate);
      }
    }
    throw new ClusterException("all 256 lab networks exist already: remove some with 'lab down'");
  }

  /** Whether this process may make networks. */
  public static boolean isPossible() {
    return "root".equals(System.getProperty("user.name"));
  }

  /** Fails unless this process may make networks. */
  public static void checkRoot() throws ClusterException {
    if (!isPossible()) {
      throw new ClusterException(
          "a lab needs root, for its network namespaces: run it as root; or use a cluster on"
              + " loopback (ebb up --servers 11 --disks 6), whose links have no rate, so that"
              + " times and the load of single links cannot be compared");
    }
  }

  // ---- names and addresses ----------------------------------------------------------------------

  /** The address of a process. Each chunk server has its own; the other processes share one. */
  public String host(String process) {
    int server = ProcessNames.serverIndex(process);
    return address(server < 0 ? CONTROL_HOST : FIRST_SERVER + server);
  }

  /** A command that runs in the namespace of a process. */
  public List<String> command(String process, List<String> command) {
    int server = ProcessNames.serverIndex(process);
    return in(server < 0 ? "control" : ProcessNames.server(server), command);
  }

  /** A command that runs in the clients' namespace. */
  public List<String> clientCommand(List<String> command) {
    return in("client", command);
  }

  /** A command that runs in the namenode's namespace, whose link has no rate. */
  public List<String> unshapedCommand(List<String> command) {
    return in("control", command);
  }

  private List<String> in(String place, List<String> command) {
    List<String> wrapped = new ArrayList<>(List.of("ip", "netns", "exec", namespace(place)));
    wrapped.addAll(command);
    return wrapped;
  }

  private String address(int host) {
    return "10.231." + number + "." + host;
  }

  private String bridge() {
    return "ebb" + number;
  }

  private String namespace(String place) {
    return bridge() + "-" + place;
  }

  // ---- up and down ------------------------------------------------------------------------------

  /** Makes the network. Parts of an earlier one with this number are removed first. */
  public void up(int servers) throws ClusterException, InterruptedException {
    checkRoot();
    down();
    run("ip", "link", "add", bridge(), "type", "bridge");
    run("ip", "addr", "add", address(1) + "/24", "dev", bridge());
    run("ip", "link", "set", bridge(), "up");
    join("control", CONTROL_HOST, false);
    join("client", CLIENT_HOST, true);
    for (int i = 0; i < servers; i++) {
      join(ProcessNames.server(i), FIRST_SERVER + i, true);
    }
  }

  /** A namespace with one link to the bridge; the rate holds in both directions. */
  private void join(String place, int host, boolean shaped)
      throws ClusterException, InterruptedException {
    String namespace = namespace(place);
    String outer = bridge() + "v" + host;
    run("ip", "netns", "add", namespace);
    run("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    run("ip", "link", "set", outer, "master", bridge(), "up");
    run("ip", "-n", namespace, "addr", "add", address(host) + "/24", "dev", "eth0");
    run("ip", "-n", namespace, "link", "set", "eth0", "up");
    run("ip", "-n", namespace, "link", "set", "lo", "up");
    if (shaped) {
      shape("add", place, outer, rate);
    }
  }

  private void shape(String verb, String place, String outer, String linkRate)
      throws ClusterException, InterruptedException {
    List<String> shape = List.of("root", "tbf", "rate", linkRate, "burst", "256kb", "limit", QUEUE);
    run(concat(List.of("tc", "qdisc", verb, "dev", outer), shape));
    run(in(place, concat(List.of("tc", "qdisc", verb, "dev", "eth0"), shape)));
  }

  /** Changes the rate of a chunk server's link in both directions. The link stays up. */
  public void setRate(int server, String linkRate) throws ClusterException, InterruptedException {
    if (!isRate(linkRate)) {
      throw new ClusterException(
          "%s is no rate of a link: write 10mbit or 500kbit".formatted(linkRate));
    }
    shape(
        "change", ProcessNames.server(server), bridge() + "v" + (FIRST_SERVER + server), linkRate);
  }

  /** Cuts a chunk server's link, or joins it again. Its connections get no answer meanwhile. */
  public void setLink(int server, boolean up) throws ClusterException, InterruptedException {
    run("ip", "link", "set", bridge() + "v" + (FIRST_SERVER + server), up ? "up" : "down");
  }

  /** Ends every process in the network and removes the network. */
  public void down() throws ClusterException, InterruptedException {
    for (long pid : pids()) {
      end(pid);
    }
    // Links go before their namespaces. The kernel would remove a namespace's links some time after
    // it, when a new network may already need the names.
    for (String link : links()) {
      ifThere(DEVICES.resolve(link), "ip", "link", "del", link);
    }
    for (String namespace : namespaces()) {
      ifThere(NAMESPACES.resolve(namespace), "ip", "netns", "del", namespace);
    }
    ifThere(DEVICES.resolve(bridge()), "ip", "link", "del", bridge());
  }

  /** Another thread, for example a shutdown hook, may remove the thing at the same time. */
  private static String ifThere(Path thing, String... command)
      throws ClusterException, InterruptedException {
    try {
      return Files.exists(thing) ? run(command) : "";
    } catch (ClusterException e) {
      if (Files.exists(thing)) {
        throw e;
      }
      return "";
    }
  }

  /** The outer ends of its links. */
  private List<String> links() throws ClusterException {
    return names(DEVICES, Pattern.compile(Pattern.quote(bridge()) + "v\\d+"));
  }

  private List<String> namespaces() throws ClusterException {
    return Files.isDirectory(NAMESPACES)
        ? names(NAMESPACES, Pattern.compile(Pattern.quote(bridge()) + "-.*"))
        : List.of();
  }

  private static List<String> names(Path directory, Pattern pattern) throws ClusterException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> pattern.matcher(name).matches())
          .toList();
    } catch (IOException e) {
      throw new ClusterException("%s cannot be listed: %s".formatted(directory, e), e);
    }
  }

  /**
   * Whether every process in the network, if there is one, belongs to a cluster that is gone.
   *
   * @param clusterExists whether a directory holds a cluster
   */
  public boolean isAbandoned(Predicate<Path> clusterExists)
      throws ClusterException, InterruptedException {
    for (long pid : pids()) {
      if (Launcher.clusterOf(pid).map(clusterExists::test).orElse(true)) {
        return false;
      }
    }
    return true;
  }

  /** The processes in the network. */
  private List<Long> pids() throws ClusterException, InterruptedException {
    List<Long> pids = new ArrayList<>();
    for (String namespace : namespaces()) {
      for (String pid :
          ifThere(NAMESPACES.resolve(namespace), "ip", "netns", "pids", namespace).split("\\s+")) {
        if (!pid.isEmpty()) {
          pids.add(Long.parseLong(pid));
        }
      }
    }
    return pids;
  }

  private static void end(long pid) throws InterruptedException {
    ProcessId process = ProcessId.of(pid).orElse(null);
    if (process != null) {
      process.signal(true);
      process.awaitEnd(5_000);
    }
  }

  /** All networks on this machine, whoever made them. Their rates are not known. */
  public static List<ShapedNetwork> all() throws ClusterException {
    return names(DEVICES, Pattern.compile("ebb\\d{1,3}")).stream()
        .map(name -> new ShapedNetwork(Integer.parseInt(name.substring(3)), "100mbit"))
        .toList();
  }

  /** Bytes that the chunk servers have received so far. */
  public long receivedByServers(int servers) throws IOException {
    long bytes = 0;
    for (int i = 0; i < servers; i++) {
      bytes += received(FIRST_SERVER + i);
    }
    return bytes;
  }

  /** Bytes that the clients have received so far. */
  public long receivedByClients() throws IOException {
    return received(CLIENT_HOST);
  }

  /** Bytes received by the end of a link: those that the bridge's end has sent. */
  private long received(int host) throws IOException {
    Path file = DEVICES.resolve(bridge() + "v" + host).resolve("statistics/tx_bytes");
    return Long.parseLong(Files.readString(file).strip());
  }

  private static List<String> concat(List<String> one, List<String> two) {
    List<String> both = new ArrayList<>(one);
    both.addAll(two);
    return both;
  }

  private static String run(String... command) throws ClusterException, InterruptedException {
    return run(List.of(command));
  }

  private static String run(List<String> command) throws ClusterException, InterruptedException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new ClusterException(
            "%s: %s; see whether this kernel has network namespaces, veth, bridge and tbf, or use"
                    .formatted(String.join(" ", command), out.strip())
                + " a cluster on loopback (ebb up)");
      }
      return out;
    } catch (IOException e) {
      throw new ClusterException(
          command.get(0) + " could not be run: install the package iproute2 (" + e + ")", e);
    }
  }
}
