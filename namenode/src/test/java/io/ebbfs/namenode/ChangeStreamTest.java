package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.events.BrokerProcess;
import io.ebbfs.protocol.proto.CodingProtos.ChangesProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The change stream of a namenode, with a stock client and a real broker. */
@Tag("process")
class ChangeStreamTest {
  @TempDir Path directory;

  private NamenodeServer start(String kafka) throws Exception {
    NamenodeConfig config =
        NamenodeConfig.of(
            Optional.empty(),
            List.of(
                new Override("test", "data", directory.resolve("data").toString()),
                new Override("test", "port", "0"),
                new Override("test", "kafka", kafka)),
            Optional.empty());
    return NamenodeServer.start(config, Clock.systemUTC(), new Random(1));
  }

  private static DFSClient client(NamenodeServer namenode) throws Exception {
    return new DFSClient(
        URI.create("hdfs://127.0.0.1:" + namenode.address().getPort()), new Configuration());
  }

  private static NamenodeClient coding(NamenodeServer namenode) throws Exception {
    return new NamenodeClient(namenode.address(), RpcSettings.tryOnce(30_000), ServiceKey.NONE);
  }

  private static GetClusterResponseProto mark(NamenodeClient coding, String mark) throws Exception {
    return coding
        .coding()
        .getCluster(null, GetClusterRequestProto.newBuilder().setChangeMark(mark).build());
  }

  @Test
  void aMarkComesAfterAllThatClientsHaveChanged() throws Exception {
    try (BrokerProcess broker = new BrokerProcess(directory.resolve("kafka"))) {
      broker.start();
      try (NamenodeServer namenode = start(broker.address());
          DFSClient client = client(namenode);
          NamenodeClient coding = coding(namenode)) {
        awaitStream(client, coding);
        broker.changesUntil(record -> record.getMark().equals("probe"));
        long lost = coding.cluster().getChangesLost();
        client.mkdirs("/d/e", FsPermission.getDirDefault(), true);
        client.create("/d/e/f", true).close();
        long file = client.getFileInfo("/d/e/f").getFileId();
        long directory = client.getFileInfo("/d/e").getFileId();
        client.rename("/d/e", "/moved");
        client.delete("/moved", true);
        GetClusterResponseProto answer = mark(coding, "all");
        assertThat(answer.getChangesLost()).isEqualTo(lost);

        List<ChangesProto> records = broker.changesUntil(record -> record.getMark().equals("all"));
        Set<Long> files = new TreeSet<>();
        Set<Long> directories = new TreeSet<>();
        records.forEach(record -> files.addAll(record.getFileIdsList()));
        records.forEach(record -> directories.addAll(record.getDirectoryIdsList()));
        assertThat(files).contains(file);
        assertThat(directories).contains(directory).doesNotContain(file);
        assertThat(records.get(records.size() - 1))
            .isEqualTo(ChangesProto.newBuilder().setMark("all").build());

        // Without anybody who asks, changes are published about once a second.
        client.create("/later", true).close();
        long later = client.getFileInfo("/later").getFileId();
        broker.changesUntil(record -> record.getFileIdsList().contains(later));
      }
    }
  }

  /** The first publications may fail while the broker starts. */
  private static void awaitStream(DFSClient client, NamenodeClient coding) throws Exception {
    Await.until(
        "changes are not lost any more",
        () -> {
          long lost = coding.cluster().getChangesLost();
          client.mkdirs("/" + System.nanoTime(), FsPermission.getDirDefault(), true);
          return mark(coding, "probe").getChangesLost() == lost;
        });
  }

  @Test
  void withoutABrokerChangesAreCountedAsLostAndNothingHangs() throws Exception {
    try (NamenodeServer namenode = start("127.0.0.1:1");
        DFSClient client = client(namenode);
        NamenodeClient coding = coding(namenode)) {
      long lost = mark(coding, "a").getChangesLost();
      client.mkdirs("/d", FsPermission.getDirDefault(), true);
      long started = System.nanoTime();
      assertThat(mark(coding, "b").getChangesLost()).isGreaterThan(lost);
      assertThat(System.nanoTime() - started).isLessThan(TimeUnit.SECONDS.toNanos(12));
    }
  }
}
