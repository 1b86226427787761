package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.client.LaneFinder.Joined;
import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeServer;
import io.ebbfs.namenode.ReportingServers;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import io.ebbfs.protocol.proto.AppendProtos.OpAppendRecordsProto;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What writers do with lanes at a namenode, with chunk servers that store nothing. */
@Timeout(120)
class LanesAtNamenodeTest {
  private static final AppendOptions OPTIONS =
      new AppendOptions(2, 2, 4 << 20, 1 << 10, 1 << 20, 5_000, 30_000, 20_000);
  private static final UUID WRITER = new UUID(0, 0);

  @TempDir static java.nio.file.Path directory;
  private static NamenodeServer namenode;
  private static TestLeader leader;
  private static TestLeader other;
  private static int deadPort;
  private static ReportingServers servers;
  private static DistributedFileSystem files;

  @BeforeAll
  static void start() throws Exception {
    namenode =
        NamenodeServer.start(
            NamenodeConfig.of(
                Optional.empty(),
                List.of(
                    new NamenodeConfig.Override("test", "data", directory.toString()),
                    new NamenodeConfig.Override("test", "port", "0")),
                Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
    leader = new TestLeader();
    other = new TestLeader();
    try (ServerSocket closed = new ServerSocket(0)) {
      deadPort = closed.getLocalPort();
    }
    servers =
        new ReportingServers(namenode.address(), List.of(leader.port(), other.port(), deadPort));
    files =
        (DistributedFileSystem)
            DistributedFileSystem.newInstance(
                URI.create("hdfs://127.0.0.1:" + namenode.address().getPort()),
                new Configuration());
  }

  @AfterAll
  static void stop() throws Exception {
    files.close();
    servers.close();
    leader.close();
    other.close();
    namenode.close();
  }

  private static LaneFiles open(String path) throws IOException {
    return new LaneFiles(files, AppendedFile.require(files, new Path(path), OPTIONS));
  }

  private static LaneFinder finder(LaneFiles lanes) {
    return new LaneFinder(lanes, new LaneSealer(lanes), OPTIONS);
  }

  private static Joined join(LaneFiles lanes) throws Exception {
    return finder(lanes).join(0, WRITER, answer -> {}, Optional.empty(), Deadline.in(20_000));
  }

  private static void judge(TestLeader.Judge judge) {
    leader.judge = judge;
    other.judge = judge;
    leader.operations.clear();
    other.operations.clear();
  }

  private static boolean usesDeadServer(LaneProto lane) {
    return java.util.stream.Stream.of(lane.getBlock(), lane.getLedger())
        .flatMap(block -> block.getTargetsList().stream())
        .anyMatch(target -> target.getId().getXferPort() == deadPort);
  }

  private static boolean exists(String path) throws IOException {
    return files.exists(new Path(path));
  }

  @Test
  void filesThatWouldLoseRecordsAreRefused() throws Exception {
    files.mkdirs(new Path("/snapshots/below"));
    files.allowSnapshot(new Path("/snapshots"));
    assertThatThrownBy(() -> open("/snapshots/below/f"))
        .isInstanceOf(AppendException.class)
        .hasMessageContaining("-disallowSnapshot /snapshots");
    assertThat(exists("/snapshots/below/f")).isFalse();

    String policy = "XOR-2-1-1024k";
    files.enableErasureCodingPolicy(policy);
    files.mkdirs(new Path("/groups"));
    files.setErasureCodingPolicy(new Path("/groups"), policy);
    files.create(new Path("/groups/striped")).close();
    assertThatThrownBy(() -> open("/groups/striped"))
        .isInstanceOf(AppendException.class)
        .hasMessageContaining(policy);
    LaneFiles lanes = open("/groups/replicated");
    assertThat(lanes.requireFile().getErasureCodingPolicy()).isNull();
    judge(op -> usesDeadServer(op.getLane()) ? refusalOfDead() : "");
    try (var connection = join(lanes).connection()) {
      assertThat(
              files.getErasureCodingPolicy(new Path(lanes.blocks(Optional.of(0)).get(0).block())))
          .isNull();
    }
  }

  private static String refusalOfDead() {
    return "127.0.0.1:%d refused to write".formatted(deadPort);
  }

  @Test
  void aLaneIsToldOnlyWhenItsServersHaveIt() throws Exception {
    LaneFiles lanes = open("/told");
    AtomicBoolean toldBefore = new AtomicBoolean();
    judge(
        op -> {
          for (LaneName name : lanes.ledgers(Optional.empty())) {
            toldBefore.compareAndSet(false, !op.getJoinOnly() && lanes.lane(name).isPresent());
          }
          return usesDeadServer(op.getLane()) ? refusalOfDead() : "";
        });
    Joined created = join(lanes);
    Joined joined = join(lanes);
    created.connection().close();
    joined.connection().close();

    assertThat(toldBefore).isFalse();
    assertThat(usesDeadServer(created.lane())).isFalse();
    assertThat(created.lane().getIdleMillis()).isEqualTo(OPTIONS.idleMillis());
    assertThat(created.lane().getAgeMillis()).isEqualTo(OPTIONS.ageMillis());
    assertThat(joined.lane()).isEqualTo(created.lane());
    assertThat(lanes.lane(created.name())).contains(created.lane());
    assertThat(lanes.ledgers(Optional.empty())).containsExactly(created.name());
  }

  @Test
  void anOlderLaneIsSealedAndItsLedgerStaysUntilThen() throws Exception {
    LaneFiles lanes = open("/older");
    LaneName old = new LaneName("/", lanes.requireFile().getFileId(), 0, 1);
    LaneName given = new LaneName("/", lanes.requireFile().getFileId(), 0, 2);
    for (String path : List.of(old.ledger(), old.block(), given.ledger())) {
      files.create(new Path(path)).close();
    }
    judge(op -> usesDeadServer(op.getLane()) ? refusalOfDead() : "");
    LaneProto some = join(open("/older-model")).lane();
    lanes.tell(old, some);
    lanes.abandon(given);
    files.setTimes(new Path(old.ledger()), 1, -1);
    lanes.removeOldLedgers(given);
    assertThat(exists(old.ledger())).as("the ledger of a lane that is not sealed").isTrue();

    Joined next = join(lanes);
    next.connection().close();
    assertThat(next.created()).isTrue();
    finder(lanes).sealOlder(next.name(), Optional.empty(), Deadline.in(20_000));
    assertThat(exists(old.block())).isFalse();
    lanes.removeOldLedgers(given);
    assertThat(exists(old.ledger())).isFalse();
  }

  @Test
  void theOlderOfTwoFirstLanesStays() throws Exception {
    LaneFiles lanes = open("/first");
    long fileId = lanes.requireFile().getFileId();
    judge(op -> usesDeadServer(op.getLane()) ? refusalOfDead() : "");
    LaneCreator creator = new LaneCreator(lanes, OPTIONS);
    LaneName older = new LaneName("/", fileId, 0, 1_000);
    LaneName newer = new LaneName("/", fileId, 0, 2_000);
    Optional<Joined> first = creator.createFirst(older, WRITER, answer -> {});
    Optional<Joined> second = creator.createFirst(newer, WRITER, answer -> {});

    assertThat(first).isPresent();
    first.get().connection().close();
    assertThat(second).isEmpty();
    assertThat(lanes.ledgers(Optional.empty())).containsExactly(older);
  }

  @Test
  void aBlockWithoutItsLedgerIsNotForgotten() throws Exception {
    LaneFiles lanes = open("/lost");
    LaneName name = new LaneName("/", lanes.requireFile().getFileId(), 1, 7);
    files.create(new Path(name.block())).close();
    assertThatThrownBy(() -> RecordAppender.finish(files, new Path("/lost")))
        .isInstanceOf(AppendException.class)
        .hasMessageContaining(name.ledger() + " is gone");
    files.delete(new Path(name.block()), false);
    RecordAppender.finish(files, new Path("/lost"));
  }

  @Test
  void aSnapshotOfALaneIsNamed() throws Exception {
    files.mkdirs(new Path("/later"));
    LaneFiles lanes = open("/later/f");
    LaneName name = new LaneName("/later/", lanes.requireFile().getFileId(), 0, 1);
    files.create(new Path(name.ledger())).close();
    closedBlock(lanes, name.block(), 100);
    lanes.setSealedBytes(name, 100);
    files.allowSnapshot(new Path("/later"));
    files.createSnapshot(new Path("/later"), "s");

    LaneSealer sealer = new LaneSealer(lanes);
    assertThatThrownBy(
            () -> sealer.seal(name, Optional.empty(), Optional.empty(), Deadline.in(1_000)))
        .isInstanceOf(AppendException.class)
        .hasMessageContaining("RecordAppender.sealAll");
    files.deleteSnapshot(new Path("/later"), "s");
    sealer.seal(name, Optional.empty(), Optional.empty(), Deadline.in(1_000));
    assertThat(files.getFileStatus(new Path("/later/f")).getLen()).isEqualTo(100);
  }

  @Test
  void anOlderLaneComesFirstIntoTheFile() throws Exception {
    LaneFiles lanes = open("/order");
    long fileId = lanes.requireFile().getFileId();
    LaneName older = new LaneName("/", fileId, 0, 1);
    int bytes = 100;
    for (LaneName name : List.of(older, older.next())) {
      files.create(new Path(name.ledger())).close();
      closedBlock(lanes, name.block(), bytes);
      lanes.setSealedBytes(name, bytes);
      bytes += 1;
    }
    finder(lanes).seal(older.next(), Optional.empty(), Optional.empty(), Deadline.in(20_000));

    assertThat(files.getFileBlockLocations(new Path("/order"), 0, 1_000))
        .extracting(block -> block.getLength())
        .containsExactly(100L, 101L);
  }

  @Test
  void aWriterThatComesFromAFinishedLaneDoesNotAskItsLeaderAgain() throws Exception {
    LaneFiles lanes = open("/finished");
    judge(op -> usesDeadServer(op.getLane()) ? refusalOfDead() : "");
    Joined first = join(lanes);
    first.connection().close();
    leader.operations.clear();
    other.operations.clear();
    Joined next =
        finder(lanes)
            .join(
                0,
                WRITER,
                answer -> {},
                Optional.of(
                    new LaneFinder.Finished(
                        first.name(), first.lane(), BatchAnswerProto.getDefaultInstance())),
                Deadline.in(20_000));
    next.connection().close();

    assertThat(next.name()).isEqualTo(first.name().next());
    assertThat(leader.operations).noneMatch(OpAppendRecordsProto::getJoinOnly);
    assertThat(other.operations).noneMatch(OpAppendRecordsProto::getJoinOnly);
  }

  private static void closedBlock(LaneFiles lanes, String path, int bytes) throws IOException {
    assertThat(lanes.createFile(path)).isTrue();
    LocatedBlock added = lanes.addBlock(path, null);
    ExtendedBlock block = added.getBlock();
    block.setNumBytes(bytes);
    servers.report(ExtendedBlock.getLocalBlock(block));
    long fileId = lanes.namenode().getFileInfo(path).getFileId();
    assertThat(lanes.namenode().complete(path, lanes.leaseHolder(), block, fileId)).isTrue();
  }

  @Test
  void aWriterWhoseConnectionIsLostWithoutABatchGoesOnInTheLane() throws Exception {
    judge(op -> usesDeadServer(op.getLane()) ? refusalOfDead() : "");
    RecordAppender appender = RecordAppender.open(files, new Path("/quiet"), OPTIONS);
    appender.append(new byte[10]).get(20, TimeUnit.SECONDS);
    leader.dropWriters();
    other.dropWriters();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (leader.operations.stream().noneMatch(OpAppendRecordsProto::getJoinOnly)
        && other.operations.stream().noneMatch(OpAppendRecordsProto::getJoinOnly)) {
      assertThat(System.nanoTime()).as("the writer comes back").isLessThan(deadline);
      Thread.sleep(5);
    }
    appender.append(new byte[10]).get(20, TimeUnit.SECONDS);
    appender.close();

    LaneFiles lanes = open("/quiet");
    List<LaneName> ledgers = lanes.ledgers(Optional.empty());
    assertThat(ledgers).hasSize(1);
    assertThat(lanes.sealedBytes(ledgers.get(0))).isEmpty();
  }

  @Test
  void aWriterThatALaneHasNoRoomForTakesAnotherLane() throws Exception {
    LaneFiles lanes = open("/busy");
    judge(op -> usesDeadServer(op.getLane()) ? refusalOfDead() : "");
    Joined first = join(lanes);
    judge(
        op ->
            usesDeadServer(op.getLane())
                ? refusalOfDead()
                : op.getJoinOnly() ? "BUSY: the lane has 256 writers" : "");
    Joined second = join(lanes);
    first.connection().close();
    second.connection().close();

    assertThat(second.name().slot()).isEqualTo(1);
    assertThat(lanes.sealedBytes(first.name())).isEmpty();
  }
}
