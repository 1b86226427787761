package io.ebbfs.testbed.process;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Finds free TCP ports at 127.0.0.1. */
public final class FreePorts {
  // Below the kernel's ephemeral range, so that no outgoing connection takes the port of a process
  // that is down.
  private static final int FIRST = 20_000;
  private static final int END = 32_000;
  private static final int MAX_TRIES = 10_000;

  private FreePorts() {}

  /** Different ports that are free at this moment. */
  public static List<Integer> find(int count) throws ClusterException {
    Set<Integer> found = new LinkedHashSet<>();
    Random random = new Random();
    for (int tries = 0; found.size() < count; tries++) {
      if (tries == MAX_TRIES) {
        throw new ClusterException(
            "no %d free ports from %d to %d on 127.0.0.1: name a range with --port"
                .formatted(count, FIRST, END - 1));
      }
      int port = FIRST + random.nextInt(END - FIRST);
      if (isFree(port)) {
        found.add(port);
      }
    }
    return List.copyOf(found);
  }

  /** Ports that are free at this moment, each with the two behind it. */
  public static List<Integer> findTriples(int count) throws ClusterException {
    List<Integer> found = new ArrayList<>();
    while (found.size() < count) {
      int port = find(1).get(0);
      if (isFree(port + 1)
          && isFree(port + 2)
          && found.stream().allMatch(other -> Math.abs(other - port) > 2)) {
        found.add(port);
      }
    }
    return found;
  }

  static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
