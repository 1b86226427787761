package io.ebbfs.namenode.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.rpc.server.ServerLimits;
import io.ebbfs.namenode.rpc.server.WireClient;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.NameNodeProxies;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What strangers send to the namenode's port stops nobody else. */
class StrangersTest {
  private RpcEndpoint endpoint;
  private ClientProtocol client;
  private final List<SocketChannel> strangers = new ArrayList<>();

  private void start(ServerLimits limits) throws Exception {
    endpoint = new RpcEndpoint(4, limits, RpcEndpoint.newRetryAnswers());
    endpoint.addClients(
        (ClientProtocol)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ClientProtocol.class},
                (proxy, method, arguments) -> method.getName().equals("mkdirs") ? true : null));
    endpoint.start("127.0.0.1", 0);
    Configuration conf = new Configuration();
    // Far below what the server allows: a connection is never closed just when a call is sent.
    conf.setInt("ipc.client.connection.maxidletime", 100);
    client =
        NameNodeProxies.createNonHAProxy(
                conf,
                endpoint.address(),
                ClientProtocol.class,
                UserGroupInformation.getCurrentUser(),
                false)
            .getProxy();
  }

  @AfterEach
  void stop() throws Exception {
    for (SocketChannel stranger : strangers) {
      stranger.close();
    }
    RPC.stopProxy(client);
    endpoint.close();
  }

  @Test
  void halfOpenConnectionsByTheThousandAreClosedAndTakeNoThreads() throws Exception {
    int kept = 100;
    start(ServerLimits.DEFAULT.withConnections(4_000, kept, 1_500));
    byte[] context = WireClient.context("stranger");
    List<byte[]> beginnings =
        List.of(
            new byte[0],
            Arrays.copyOf(WireClient.PREAMBLE, 3),
            WireClient.PREAMBLE,
            WireClient.join(WireClient.PREAMBLE, new byte[] {0, 0}),
            WireClient.join(WireClient.PREAMBLE, Arrays.copyOf(context, 9)),
            WireClient.join(WireClient.PREAMBLE, context));
    mkdirs("/before");
    int threads = Thread.activeCount();
    for (int i = 0; i < 2_000; i++) {
      send(beginnings.get(i % beginnings.size()));
      if (i % 250 == 249) {
        mkdirs("/while-" + i);
      }
    }
    assertThat(Thread.activeCount()).isLessThan(threads + 20);
    await(() -> strangers.size() - closed() <= kept);
    mkdirs("/after");
  }

  @Test
  void atTheLimitAConnectionGetsInOnceTheSilentOnesAreClosed() throws Exception {
    start(ServerLimits.DEFAULT.withConnections(50, 10, 1_500));
    for (int i = 0; i < 200; i++) {
      send(WireClient.PREAMBLE);
    }
    await(
        () -> {
          try {
            return client.mkdirs("/in", FsPermission.getDefault(), true);
          } catch (IOException e) {
            return false;
          }
        });
  }

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited for 60 s").isLessThan(end);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  @Test
  void framesOfStrangersStopNothing() throws Exception {
    start(ServerLimits.DEFAULT);
    long seed = Long.getLong("seed", new Random().nextLong());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    byte[] call = WireClient.call(0, "getFileInfo", "/before");
    byte[] good =
        WireClient.join(
            WireClient.join(WireClient.PREAMBLE, WireClient.context("stranger")),
            WireClient.join(call, call));
    for (int i = 0; i < 500; i++) {
      byte[] bytes = good.clone();
      for (int changes = random.nextInt(4); changes >= 0; changes--) {
        bytes = mutate(bytes, random);
      }
      try (SocketChannel stranger = connect()) {
        stranger.write(ByteBuffer.wrap(bytes));
      } catch (IOException e) {
        // The server may close before it has read everything.
      }
    }
    assertThat(client.mkdirs("/after", FsPermission.getDefault(), true))
        .as("seed %d", seed)
        .isTrue();
  }

  private static byte[] mutate(byte[] bytes, Random random) {
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(4)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt();
      case 2 -> {
        return Arrays.copyOf(bytes, at + 1);
      }
      default -> {
        byte[] tail = Arrays.copyOfRange(bytes, random.nextInt(bytes.length), bytes.length);
        return WireClient.join(Arrays.copyOf(bytes, at + 1), tail);
      }
    }
    return bytes;
  }

  private void mkdirs(String path) throws IOException {
    assertThat(client.mkdirs(path, FsPermission.getDefault(), true)).isTrue();
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(endpoint.address());
  }

  private void send(byte[] bytes) throws IOException {
    SocketChannel stranger = connect();
    strangers.add(stranger);
    stranger.write(ByteBuffer.wrap(bytes));
    stranger.configureBlocking(false);
  }

  private long closed() {
    return strangers.stream().filter(StrangersTest::isClosed).count();
  }

  private static boolean isClosed(SocketChannel stranger) {
    try {
      return stranger.read(ByteBuffer.allocate(1)) < 0;
    } catch (IOException e) {
      return true;
    }
  }
}
