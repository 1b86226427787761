package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.jvm.JavaOptions;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ignite.Ignition;
import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.spi.communication.tcp.TcpCommunicationSpi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node of the store that would wait very long for a namenode of which it does not hear. */
@Tag("process")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class EndedNamenodesTest {
  private static final long DETECTION_MILLIS = TimeUnit.HOURS.toMillis(1);

  @TempDir Path directory;
  private String peer;
  private StoreNode node;
  private IgniteEx ignite;

  @BeforeEach
  void start() throws IOException {
    try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = one.getLocalPort();
      int transferPort = other.getLocalPort();
      one.close();
      other.close();
      peer = "127.0.0.1:" + port;
      StoreMember member = new StoreMember("127.0.0.1", port, List.of(peer));
      node =
          StoreNode.start(
              member,
              new StoreNodeConfig(
                  directory.resolve("node"),
                  128L << 20,
                  256L << 20,
                  transferPort,
                  0,
                  DETECTION_MILLIS,
                  false,
                  32,
                  1,
                  4));
      node.awaitServing();
      ignite = (IgniteEx) Ignition.ignite(member.name());
    }
  }

  @AfterEach
  void stop() {
    node.close();
  }

  private IgniteStore open() throws IOException {
    return IgniteStore.open(
        StoreClientConfig.of(directory.resolve("client"), "127.0.0.1", List.of(peer)));
  }

  private static void write(IgniteStore store) throws IOException {
    store.transact(
        7,
        transaction -> {
          transaction.put(
              Tables.COUNTER, LockingNamenodeMain.KEY, CounterRow.newBuilder().setValue(1).build());
          return null;
        });
  }

  @Test
  void theRowsOfAKilledNamenodeAreFreeAtOnce() throws Exception {
    try (IgniteStore store = open()) {
      Process other = startLocking();
      other.destroyForcibly().waitFor();
      write(store); // fails after the patience of a namenode, which is seconds
      assertThat(ignite.cluster().forClients().nodes()).hasSize(1);
    }
  }

  @Test
  void aNamenodeThatListensIsNotLeftOut() throws Exception {
    try (IgniteStore store = open();
        EndedNamenodes watch = EndedNamenodes.watch(ignite)) {
      ClusterNode namenode = ignite.cluster().forClients().node();
      watch.leaveOutIfEnded(namenode.id());
      write(store);
      assertThat(ignite.cluster().node(namenode.id())).isNotNull();
    }
  }

  @Test
  void aThreadHasFewConnectionsThatStandStillWhenOneOfThemIsReset() {
    TcpCommunicationSpi spi = (TcpCommunicationSpi) ignite.configuration().getCommunicationSpi();
    assertThat(spi.getSelectorsCount()).isGreaterThan(16);
  }

  private Process startLocking() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JavaOptions.OPENS);
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(
        List.of(
            LockingNamenodeMain.class.getName(), directory.resolve("locking").toString(), peer));
    Path log = directory.resolve("locking.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    while (!Files.readAllLines(log).contains(LockingNamenodeMain.LOCKED)) {
      assertThat(process.isAlive()).as("%s", Files.readString(log)).isTrue();
      Thread.sleep(20);
    }
    return process;
  }
}
