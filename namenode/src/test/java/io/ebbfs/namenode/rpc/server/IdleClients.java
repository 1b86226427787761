package io.ebbfs.namenode.rpc.server;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** A process with many connections that do nothing. Its descriptors are not those of the server. */
final class IdleClients {
  private IdleClients() {}

  /** Opens the connections, prints "open", and ends with its standard input. */
  public static void main(String[] arguments) throws Exception {
    InetSocketAddress server = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
    byte[] hello = WireClient.join(WireClient.PREAMBLE, WireClient.context("idle"));
    List<SocketChannel> open = new ArrayList<>();
    for (int left = Integer.parseInt(arguments[1]); left > 0; left--) {
      SocketChannel channel = SocketChannel.open(server);
      channel.write(ByteBuffer.wrap(hello));
      open.add(channel);
    }
    System.out.println("open");
    System.in.read();
    for (SocketChannel channel : open) {
      channel.close();
    }
  }
}
