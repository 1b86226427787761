package io.ebbfs.testbed.process;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Finds free TCP ports at 127.0.0.1. Each process takes them from slots of its own, because a port
 * is listened at only seconds after it was found: a process holds a slot by listening at the slot's
 * first port, as long as it lives. Thread-safe.
 */
public final class FreePorts {
  // Below the kernel's ephemeral range, so that no outgoing connection takes the port of a process
  // that is down.
  private static final int FIRST = 20_000;
  private static final int END = 32_000;
  private static final int SLOT = 200;
  private static final int SLOTS = (END - FIRST) / SLOT;

  /** A process holds so many: it gives ports again rather than leave none to other processes. */
  private static final int MOST_HELD = 10;

  /** The first ports of the slots of this process, where it listens. */
  private static final List<ServerSocket> HELD = new ArrayList<>();

  /** The slot from which ports are given, by its place in {@link #HELD}, and the next one in it. */
  private static int slot = -1;

  private static int next = SLOT;

  private FreePorts() {}

  /** Different ports that are free at this moment. */
  public static List<Integer> find(int count) throws ClusterException {
    return findRuns(count, 1);
  }

  /** Ports that are free at this moment, each with the two behind it. */
  public static List<Integer> findTriples(int count) throws ClusterException {
    return findRuns(count, 3);
  }

  private static synchronized List<Integer> findRuns(int count, int length)
      throws ClusterException {
    List<Integer> found = new ArrayList<>();
    for (int tries = 0; found.size() < count; tries++) {
      if (tries == END - FIRST) {
        throw new ClusterException(
            "no %d free ports from %d to %d on 127.0.0.1: name a range with --port"
                .formatted(count, FIRST, END - 1));
      }
      if (next + length > SLOT) {
        goToNextSlot();
      }
      int port = HELD.get(slot).getLocalPort() + next;
      next += length;
      boolean free = true;
      for (int i = 0; i < length; i++) {
        free &= isFree(port + i);
      }
      if (free) {
        found.add(port);
      }
    }
    return List.copyOf(found);
  }

  /** A new slot, or, if there is none or this process holds many, its oldest one again. */
  private static void goToNextSlot() throws ClusterException {
    next = 1;
    int start = new Random().nextInt(SLOTS);
    for (int i = 0; i < SLOTS && HELD.size() < MOST_HELD; i++) {
      try {
        HELD.add(listen(FIRST + (start + i) % SLOTS * SLOT));
        slot = HELD.size() - 1;
        return;
      } catch (IOException e) {
        // Another process, or this one, holds the slot.
        continue;
      }
    }
    if (HELD.isEmpty()) {
      throw new ClusterException(
          "other processes hold all %d ranges of ports from %d to %d: name a range with --port"
              .formatted(SLOTS, FIRST, END - 1));
    }
    slot = (slot + 1) % HELD.size();
  }

  private static ServerSocket listen(int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    try {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  static boolean isFree(int port) {
    try (ServerSocket socket = listen(port)) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
