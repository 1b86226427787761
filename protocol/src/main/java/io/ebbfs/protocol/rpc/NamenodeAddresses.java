package io.ebbfs.protocol.rpc;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.net.NetUtils;

/**
 * Where the namenodes of a cluster are: one, or several that share a store, of which one serves.
 * Immutable.
 */
public record NamenodeAddresses(List<InetSocketAddress> all) {
  public NamenodeAddresses {
    all = List.copyOf(all);
    if (all.isEmpty()) {
      throw new IllegalArgumentException("no namenode is named; name one at least, as HOST:PORT");
    }
  }

  /** One namenode. */
  public static NamenodeAddresses of(InetSocketAddress namenode) {
    return new NamenodeAddresses(List.of(namenode));
  }

  /** The opposite of {@link #toString}. */
  public static NamenodeAddresses parse(String text) {
    return new NamenodeAddresses(
        Stream.of(text.split(",")).map(NetUtils::createSocketAddr).toList());
  }

  /** The address that is asked first. */
  public InetSocketAddress first() {
    return all.get(0);
  }

  /** The addresses as host:port, separated by commas. */
  @Override
  public String toString() {
    return all.stream().map(NamenodeAddresses::text).collect(Collectors.joining(","));
  }

  /** An address as host:port. */
  public static String text(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }
}
