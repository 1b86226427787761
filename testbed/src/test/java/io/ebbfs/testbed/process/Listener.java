package io.ebbfs.testbed.process;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;

/** A process that listens at a port, with many threads that take a while to die. */
final class Listener {
  private static final int THREADS = 64;
  private static final int BYTES = 1 << 20;

  private Listener() {}

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      for (int i = 0; i < THREADS; i++) {
        new Thread(Listener::hold).start();
      }
      Files.createFile(Path.of(arguments[1]));
      socket.accept();
    }
  }

  private static void hold() {
    byte[] memory = new byte[BYTES];
    try {
      Thread.sleep(600_000);
    } catch (InterruptedException e) {
      System.out.println(memory.length);
    }
  }
}
