package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A network of real links on this machine: a namespace for each chunk server, one for the namenode,
 * Kafka and the control plane, one for clients; all joined by a bridge, through which this machine
 * reaches them too. The links of the chunk servers and of the clients have a rate in each
 * direction. Everything in it is found by its number, so that it can be removed without knowing who
 * made it. Needs root.
 *
 * @param number 0 to 255: the third byte of its addresses, and part of every name
 * @param rate of each shaped link and direction, as tc takes it: {@code 100mbit}
 */
public record Lab(int number, String rate) {
  private static final Pattern RATE = Pattern.compile("[1-9][0-9]{0,5}(kbit|mbit|gbit)");
  private static final Path DEVICES = Path.of("/sys/class/net");
  private static final Path NAMESPACES = Path.of("/run/netns");
  static final int FIRST_SERVER = 10;
  private static final int CONTROL_HOST = 2;
  private static final int CLIENT_HOST = 3;

  /**
   * As much as a switch has for a port. A shorter queue overflows while many servers rebuild blocks
   * at once; a connection's first packet or an opening window that is dropped is sent again seconds
   * later, in which a link of the rates used here moves many blocks.
   */
  private static final String QUEUE = "1mb";

  /** Whether a text is the rate of a link: {@code 100mbit}. */
  public static boolean isRate(String text) {
    return RATE.matcher(text).matches();
  }

  /** A lab with a number that no other one on this machine has. */
  static Lab choose(String rate) throws ClusterException {
    if (!isRate(rate)) {
      throw new ClusterException(
          "--rate %s is no rate of a link: write 100mbit, 1gbit or 500kbit".formatted(rate));
    }
    checkRoot();
    for (int number = 0; number < 256; number++) {
      if (!Files.exists(DEVICES.resolve("ebb" + number))) {
        return new Lab(number, rate);
      }
    }
    throw new ClusterException("all 256 lab networks exist already: remove some with 'lab down'");
  }

  static void checkRoot() throws ClusterException {
    if (!Laboratory.isPossible()) {
      throw new ClusterException(
          "a lab needs root, for its network namespaces: run it as root; or use a cluster on"
              + " loopback (ebb up --servers 11 --disks 6), whose links have no rate, so that"
              + " times and the load of single links cannot be compared");
    }
  }

  // ---- names and addresses ----------------------------------------------------------------------

  /** The address of a process: the chunk servers have one each, the others share one. */
  String host(String process) {
    int server = serverOf(process);
    return address(server < 0 ? CONTROL_HOST : FIRST_SERVER + server);
  }

  /** A command that is run where the process lives. */
  List<String> command(String process, List<String> command) {
    int server = serverOf(process);
    return in(server < 0 ? "control" : Commands.server(server), command);
  }

  /** A command that is run where clients are. */
  public List<String> clientCommand(List<String> command) {
    return in("client", command);
  }

  /** A command that is run where no link has a rate: beside the namenode. */
  public List<String> unshapedCommand(List<String> command) {
    return in("control", command);
  }

  private List<String> in(String place, List<String> command) {
    List<String> wrapped = new ArrayList<>(List.of("ip", "netns", "exec", namespace(place)));
    wrapped.addAll(command);
    return wrapped;
  }

  private static int serverOf(String process) {
    return process.startsWith("server-") ? Integer.parseInt(process.substring(7)) : -1;
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

  /** Makes the network, anew if some of it was there. */
  void up(int servers) throws ClusterException, InterruptedException {
    checkRoot();
    down();
    run("ip", "link", "add", bridge(), "type", "bridge");
    run("ip", "addr", "add", address(1) + "/24", "dev", bridge());
    run("ip", "link", "set", bridge(), "up");
    join("control", CONTROL_HOST, false);
    join("client", CLIENT_HOST, true);
    for (int i = 0; i < servers; i++) {
      join(Commands.server(i), FIRST_SERVER + i, true);
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

  /** Gives the link of a chunk server another rate, in both directions; it stays up meanwhile. */
  public void setRate(int server, String linkRate) throws ClusterException, InterruptedException {
    if (!isRate(linkRate)) {
      throw new ClusterException(
          "%s is no rate of a link: write 10mbit or 500kbit".formatted(linkRate));
    }
    shape("change", Commands.server(server), bridge() + "v" + (FIRST_SERVER + server), linkRate);
  }

  /** Removes everything of this number, and ends whatever still runs in it. */
  void down() throws ClusterException, InterruptedException {
    for (long pid : pids()) {
      end(pid);
    }
    // The kernel removes what was in a namespace some time after it: by then, a new lab may want
    // links of the same names.
    for (String link : links()) {
      ifThere(DEVICES.resolve(link), "ip", "link", "del", link);
    }
    for (String namespace : namespaces()) {
      ifThere(NAMESPACES.resolve(namespace), "ip", "netns", "del", namespace);
    }
    ifThere(DEVICES.resolve(bridge()), "ip", "link", "del", bridge());
  }

  /** Somebody else, a shutdown hook for one, may remove the thing at the same time. */
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

  /** Whether nothing runs in it but, at most, processes of clusters whose directory is gone. */
  boolean isAbandoned() throws ClusterException, InterruptedException {
    for (long pid : pids()) {
      if (Launcher.clusterOf(pid).map(Layout::existsIn).orElse(true)) {
        return false;
      }
    }
    return true;
  }

  /** What runs in it. */
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

  /** The numbers of the labs on this machine, whoever made them. */
  static List<Lab> all() throws ClusterException {
    return names(DEVICES, Pattern.compile("ebb\\d{1,3}")).stream()
        .map(name -> new Lab(Integer.parseInt(name.substring(3)), "100mbit"))
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

  /** What the bridge's end of a link has sent, its other end has received. */
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
