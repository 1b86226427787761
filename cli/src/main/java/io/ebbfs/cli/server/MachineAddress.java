package io.ebbfs.cli.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.Optional;

/** The addresses of this machine. */
final class MachineAddress {
  private MachineAddress() {}

  /**
   * The address that this machine's packets to another one carry. Nothing is sent.
   *
   * @throws IOException with a message for the operator if there is no way to the other machine
   */
  static String toward(InetSocketAddress other) throws IOException {
    checkResolved(other);
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(other);
      return socket.getLocalAddress().getHostAddress();
    } catch (SocketException | UncheckedIOException e) {
      throw new IOException(
          "this machine has no route to %s (%s); repair the route, or set 'host' in %s"
              .formatted(other.getHostString(), e.getMessage(), ClusterConfig.FILE),
          e);
    }
  }

  /**
   * The first address that belongs to this machine; empty if none does.
   *
   * @throws IOException with a message for the operator if a name has no address, or if the name of
   *     this machine stands for the loopback address, where no other machine reaches it
   */
  static Optional<InetSocketAddress> ownOf(List<InetSocketAddress> addresses) throws IOException {
    for (InetSocketAddress address : addresses) {
      checkResolved(address);
      if (NetworkInterface.getByInetAddress(address.getAddress()) != null
          || address.getAddress().isLoopbackAddress()) {
        checkReachable(address);
        return Optional.of(address);
      }
    }
    return Optional.empty();
  }

  private static void checkResolved(InetSocketAddress address) throws IOException {
    if (address.isUnresolved()) {
      throw new IOException(
          "the name %s has no address; repair DNS or /etc/hosts, or write the address in %s"
              .formatted(address.getHostString(), ClusterConfig.FILE));
    }
  }

  private static void checkReachable(InetSocketAddress address) throws IOException {
    String name = address.getHostString();
    InetAddress found = address.getAddress();
    boolean asked = name.equals("localhost") || name.equals(found.getHostAddress());
    if (found.isLoopbackAddress() && !asked) {
      throw new IOException(
          ("the name %s stands for %s on this machine, where no other machine reaches it; remove"
                  + " that line from /etc/hosts, or write the address in %s")
              .formatted(name, found.getHostAddress(), ClusterConfig.FILE));
    }
  }
}
