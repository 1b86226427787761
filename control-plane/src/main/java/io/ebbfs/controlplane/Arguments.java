package io.ebbfs.controlplane;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The command line of the control plane.
 *
 * @param httpHost where the API listens; 127.0.0.1 unless given
 * @param readyFile is written with the API's address once everything runs; null for none
 */
record Arguments(
    Path conf,
    InetSocketAddress namenode,
    String kafka,
    String httpHost,
    int httpPort,
    Path data,
    Path readyFile) {

  static final String USAGE =
      "usage: ControlPlane --conf DIR --namenode HOST:PORT --kafka HOST:PORT --http-port N"
          + " --data DIR [--http-host H] [--ready-file F]";

  private static final List<String> REQUIRED =
      List.of("--conf", "--namenode", "--kafka", "--http-port", "--data");
  private static final List<String> OPTIONAL = List.of("--http-host", "--ready-file");

  /**
   * @throws IllegalArgumentException naming what is wrong and what to write instead
   */
  static Arguments parse(String[] arguments) {
    Map<String, String> values = new HashMap<>();
    for (int i = 0; i < arguments.length; i += 2) {
      if (!REQUIRED.contains(arguments[i]) && !OPTIONAL.contains(arguments[i])) {
        throw new IllegalArgumentException("unknown option " + arguments[i] + "; " + USAGE);
      }
      if (i + 1 == arguments.length) {
        throw new IllegalArgumentException(arguments[i] + " has no value; " + USAGE);
      }
      values.put(arguments[i], arguments[i + 1]);
    }
    for (String required : REQUIRED) {
      if (!values.containsKey(required)) {
        throw new IllegalArgumentException(required + " is missing; " + USAGE);
      }
    }
    address("--kafka", values.get("--kafka"));
    return new Arguments(
        Path.of(values.get("--conf")),
        address("--namenode", values.get("--namenode")),
        values.get("--kafka"),
        values.getOrDefault("--http-host", "127.0.0.1"),
        port("--http-port", values.get("--http-port"), 0),
        Path.of(values.get("--data")),
        values.containsKey("--ready-file") ? Path.of(values.get("--ready-file")) : null);
  }

  private static InetSocketAddress address(String option, String text) {
    int colon = text.lastIndexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException(option + " " + text + " is not HOST:PORT; " + USAGE);
    }
    return new InetSocketAddress(
        text.substring(0, colon), port(option, text.substring(colon + 1), 1));
  }

  private static int port(String option, String text, int least) {
    try {
      int port = Integer.parseInt(text);
      if (port >= least && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Refused below, like a port out of range.
    }
    throw new IllegalArgumentException(
        option + ": '" + text + "' is not a port from " + least + " to 65535; " + USAGE);
  }
}
