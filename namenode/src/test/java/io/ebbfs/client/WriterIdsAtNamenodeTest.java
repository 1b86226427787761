package io.ebbfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.client.LaneFinder.Joined;
import io.ebbfs.client.LanesInMemory.Fate;
import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeServer;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Producers with ids of their own, at a namenode and at chunk servers in memory: each record is
 * stored once, whatever happens to a process and to the process that follows it.
 */
@Timeout(180)
class WriterIdsAtNamenodeTest {
  private static final AppendOptions OPTIONS =
      new AppendOptions(2, 2, 4 << 20, 4 * NumberedRecord.BYTES, 1 << 10, 5_000, 30_000, 60_000);

  @TempDir static java.nio.file.Path directory;
  private static NamenodeServer namenode;
  private static LanesInMemory servers;
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
    servers = new LanesInMemory(namenode.address());
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
    namenode.close();
  }

  @AfterEach
  void behave() {
    servers.misbehave(() -> Fate.STORED);
  }

  private static LaneFiles open(Path path) throws IOException {
    return new LaneFiles(files, AppendedFile.require(files, path, OPTIONS));
  }

  private static LaneFinder finder(LaneFiles lanes) {
    return new LaneFinder(lanes, new LaneSealer(lanes), OPTIONS);
  }

  private static void append(RecordAppender appender, long number) throws Exception {
    appender.append(new NumberedRecord(0, 0, number).bytes()).get(60, TimeUnit.SECONDS);
  }

  /** The namenode may hear of the replicas of a recovered block after the end of the recovery. */
  private static void finish(Path path) throws Exception {
    new Patience(path.toString(), 60_000)
        .repeat(
            deadline -> {
              RecordAppender.finish(files, path);
              return path;
            });
  }

  private static List<Long> numbersIn(Path path) throws IOException {
    return NumberedRecord.read(files, path).stream().map(NumberedRecord::number).toList();
  }

  private static List<String> namesBeside(Path path) throws IOException {
    return Arrays.stream(files.listStatus(path.getParent()))
        .map(FileStatus::getPath)
        .map(Path::getName)
        .filter(name -> name.startsWith("."))
        .toList();
  }

  @Test
  void aProducerThatClosedGoesOnAndFinishForgetsItsId() throws Exception {
    Path path = new Path("/closed/f");
    UUID id = new UUID(1, 1);
    try (RecordAppender first = RecordAppender.open(files, path, id, OPTIONS)) {
      assertThat(first.lastStored()).isEmpty();
      for (int number = 0; number < 3; number++) {
        append(first, number);
      }
    }
    try (RecordAppender nothing = RecordAppender.open(files, path, id, OPTIONS)) {
      assertThat(nothing.lastStored()).hasValue(2);
    }
    try (RecordAppender second = RecordAppender.open(files, path, id, OPTIONS);
        RecordAppender other = RecordAppender.open(files, path, new UUID(1, 2), OPTIONS)) {
      assertThat(second.lastStored()).hasValue(2);
      assertThat(other.lastStored()).isEmpty();
      append(second, 3);
    }
    assertThat(open(path).writers(Optional.of(id))).hasSize(1);
    finish(path);

    assertThat(numbersIn(path)).containsExactly(0L, 1L, 2L, 3L);
    assertThat(namesBeside(path)).isEmpty();
    try (RecordAppender forgotten = RecordAppender.open(files, path, id, OPTIONS)) {
      assertThat(forgotten.lastStored()).isEmpty();
    }
  }

  @Test
  void aProcessWhoseIdIsTakenStoresNothingMore() throws Exception {
    Path path = new Path("/taken/f");
    UUID id = new UUID(2, 2);
    RecordAppender paused = RecordAppender.open(files, path, id, OPTIONS);
    for (int number = 0; number < 5; number++) {
      append(paused, number);
    }
    try (RecordAppender next = RecordAppender.open(files, path, id, OPTIONS)) {
      assertThat(next.lastStored()).hasValue(4);
      assertThat(numbersIn(path)).as("its lane is sealed").hasSize(5);
      assertThatThrownBy(() -> append(paused, 5))
          .cause()
          .isInstanceOf(AppendException.class)
          .hasMessageContaining(id.toString());
      append(next, 5);
    }
    assertThatThrownBy(paused::close).isInstanceOf(AppendException.class);
    finish(path);
    assertThat(numbersIn(path)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
  }

  /** A writer that does nothing more after a batch, as a process that was killed. */
  private static void dieAfterTwoBatches(Path path, UUID id, Fate second) throws Exception {
    LaneFiles lanes = open(path);
    WriterClaim claim = WriterClaim.take(lanes, id);
    BlockingQueue<BatchAnswerProto> answers = new LinkedBlockingQueue<>();
    Joined joined = finder(lanes).join(0, id, answers::add, Optional.empty(), Deadline.in(20_000));
    claim.enter(joined.name(), 0);
    joined.connection().send(batch(0));
    assertThat(answers.poll(60, TimeUnit.SECONDS).getResult())
        .isEqualTo(BatchAnswerProto.Result.STORED);
    servers.misbehave(() -> second);
    joined.connection().send(batch(2));
    assertThat(answers.poll(60, TimeUnit.SECONDS)).isNotNull();
    servers.misbehave(() -> Fate.STORED);
  }

  private static Batch batch(long firstRecord) {
    Batch batch = new Batch(firstRecord);
    for (int i = 0; i < 2; i++) {
      batch.add(new NumberedRecord(0, 0, firstRecord + i).bytes(), 0, NumberedRecord.BYTES);
    }
    return batch;
  }

  @ParameterizedTest
  @EnumSource(Fate.class)
  void theLastRecordOfAProcessThatDiedIsFoundInItsLedger(Fate fate) throws Exception {
    Path path = new Path("/died-" + fate + "/f");
    UUID id = new UUID(3, fate.ordinal());
    dieAfterTwoBatches(path, id, fate);

    boolean stored = fate == Fate.STORED || fate == Fate.STORED_WITHOUT_ANSWER;
    try (RecordAppender next = RecordAppender.open(files, path, id, OPTIONS)) {
      assertThat(next.lastStored()).hasValue(stored ? 3 : 1);
      for (long number = next.lastStored().getAsLong() + 1; number < 6; number++) {
        append(next, number);
      }
    }
    finish(path);
    assertThat(numbersIn(path)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void aProcessThatDiedWhileItRecoveredHasChangedNothing() throws Exception {
    Path path = new Path("/twice/f");
    UUID id = new UUID(4, 4);
    dieAfterTwoBatches(path, id, Fate.STORED_WITHOUT_ANSWER);
    LaneFiles lanes = open(path);
    for (int life = 0; life < 3; life++) {
      WriterClaim claim = WriterClaim.take(lanes, id);
      assertThat(claim.nextRecord(finder(lanes), Deadline.in(20_000))).isEqualTo(4);
    }
    // A process that has told the next lane, and has stored nothing there.
    WriterClaim claim = WriterClaim.take(lanes, id);
    Joined joined = finder(lanes).join(1, id, answer -> {}, Optional.empty(), Deadline.in(20_000));
    claim.enter(joined.name(), 4);
    assertThat(WriterClaim.take(lanes, id).nextRecord(finder(lanes), Deadline.in(20_000)))
        .isEqualTo(4);
  }

  @Test
  void onlyTheLastClaimCanTellALane() throws Exception {
    LaneFiles lanes = open(new Path("/claims/f"));
    UUID id = new UUID(5, 5);
    LaneName lane = new LaneName("/claims/", lanes.requireFile().getFileId(), 0, 1);
    Patience patience = new Patience(lanes.path(), 60_000);
    ExecutorService processes = Executors.newFixedThreadPool(8);
    List<Future<WriterClaim>> taken = new ArrayList<>();
    try {
      for (int i = 0; i < 8; i++) {
        taken.add(processes.submit(() -> patience.repeat(deadline -> WriterClaim.take(lanes, id))));
      }
      int able = 0;
      for (Future<WriterClaim> claim : taken) {
        claim.get(60, TimeUnit.SECONDS);
      }
      for (Future<WriterClaim> claim : taken) {
        able += canTell(claim.get(), lane) ? 1 : 0;
      }
      assertThat(able).isEqualTo(1);
    } finally {
      processes.shutdownNow();
    }
    assertThat(lanes.writers(Optional.of(id))).hasSize(1);
    // A process that created the first name late, and died, has left it.
    lanes.createEmptyFile(lanes.firstNameOf(id).path());
    assertThat(canTell(WriterClaim.take(lanes, id), lane.next())).isTrue();
  }

  @Test
  void aProcessWhoseIdIsForgottenNeverHasTheIdAgain() throws Exception {
    LaneFiles lanes = open(new Path("/forgotten/f"));
    LaneName lane = new LaneName("/forgotten/", lanes.requireFile().getFileId(), 0, 1);
    UUID id = new UUID(11, 11);
    WriterClaim paused = WriterClaim.take(lanes, id);
    lanes.removeAll();
    Thread.sleep(2); // the time in milliseconds is another one
    WriterClaim next = WriterClaim.take(lanes, id);

    assertThat(canTell(paused, lane)).isFalse();
    assertThat(canTell(next, lane)).isTrue();
  }

  private static boolean canTell(WriterClaim claim, LaneName lane) throws IOException {
    try {
      claim.enter(lane, 0);
      return true;
    } catch (AppendException taken) {
      return false;
    }
  }

  @Test
  void theLedgerThatAWriterNeedsIsNotRemoved() throws Exception {
    LaneFiles lanes = open(new Path("/needed/f"));
    LaneName old = new LaneName("/needed/", lanes.requireFile().getFileId(), 0, 1);
    LaneName unneeded = old.next();
    LaneName newest = unneeded.next();
    for (LaneName name : List.of(old, unneeded, newest)) {
      files.create(new Path(name.ledger())).close();
    }
    for (LaneName name : List.of(old, unneeded)) {
      lanes.setSealedBytes(name, 0);
      files.setTimes(new Path(name.ledger()), 1, -1);
    }
    WriterClaim claim = WriterClaim.take(lanes, new UUID(6, 6));
    claim.enter(old, 0);
    lanes.removeOldLedgers(newest);
    assertThat(lanes.ledgers(Optional.empty())).containsExactly(old, newest);

    claim.release(0);
    lanes.removeOldLedgers(newest);
    assertThat(lanes.ledgers(Optional.empty())).containsExactly(newest);
  }

  @Test
  void oldLedgersAreRemovedAFewAtATime() throws Exception {
    LaneFiles lanes = open(new Path("/many/f"));
    LaneName name = new LaneName("/many/", lanes.requireFile().getFileId(), 0, 1);
    List<LaneName> needed = new ArrayList<>();
    for (int i = 0; i < 63; i++, name = name.next()) {
      files.create(new Path(name.ledger())).close();
      lanes.setSealedBytes(name, 0);
      files.setTimes(new Path(name.ledger()), 1, -1);
      if (i < 3) {
        WriterClaim.take(lanes, new UUID(14, i)).enter(name, 0);
        needed.add(name);
      }
    }
    files.create(new Path(name.ledger())).close();
    lanes.removeOldLedgers(name);
    assertThat(lanes.ledgers(Optional.empty())).containsAll(needed).contains(name).hasSize(14);

    lanes.removeOldLedgers(name);
    assertThat(lanes.ledgers(Optional.empty())).containsAll(needed).contains(name).hasSize(4);
  }

  @Test
  void aLaneWhoseLedgerIsGoneIsNotTold() throws Exception {
    Path path = new Path("/late/f");
    LaneFiles lanes = open(path);
    LaneName gone = new LaneName("/late/", lanes.requireFile().getFileId(), 0, 1);
    LaneName there = gone.next();
    files.create(new Path(there.ledger())).close();
    UUID id = new UUID(13, 13);
    WriterClaim claim = WriterClaim.take(lanes, id);

    assertThat(claim.enter(gone, 3)).isFalse();
    assertThat(lanes.writers(Optional.of(id)))
        .singleElement()
        .returns(Optional.empty(), WriterName::lane);
    assertThat(claim.enter(there, 3)).isTrue();
    claim.release(3);
    try (RecordAppender appender = RecordAppender.open(files, path, id, OPTIONS)) {
      assertThat(appender.lastStored()).hasValue(2);
    }
  }

  @Test
  void aLedgerThatIsGoneIsNamed() throws Exception {
    Path path = new Path("/gone/f");
    LaneFiles lanes = open(path);
    LaneName lane = new LaneName("/gone/", lanes.requireFile().getFileId(), 0, 1);
    UUID id = new UUID(7, 7);
    files.create(new Path(lane.ledger())).close();
    WriterClaim.take(lanes, id).enter(lane, 3);
    files.delete(new Path(lane.ledger()), false);

    assertThatThrownBy(() -> RecordAppender.open(files, path, id, OPTIONS))
        .isInstanceOf(AppendException.class)
        .hasMessageContaining(lane.ledger() + " is gone")
        .hasMessageContaining(id.toString());
  }

  @Test
  void aLedgerThatKnowsLessThanIsSealedIsRefused() throws Exception {
    LaneFiles lanes = open(new Path("/short/f"));
    LaneName lane = new LaneName("/short/", lanes.requireFile().getFileId(), 0, 1);
    files.create(new Path(lane.ledger())).close();
    lanes.abandon(lane);
    lanes.setSealedBytes(lane, 100);
    WriterClaim claim = WriterClaim.take(lanes, new UUID(12, 12));
    claim.enter(lane, 3);

    assertThatThrownBy(() -> claim.nextRecord(finder(lanes), Deadline.in(20_000)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("100 bytes")
        .hasMessageContaining(lane.ledger() + " knows 0");
    assertThat(lanes.readSealed(lane, 0).entries()).isEmpty();
  }

  @Test
  void finishForgetsNoIdAsLongAsALaneIsInUse() throws Exception {
    LaneFiles lanes = open(new Path("/unfinished/f"));
    WriterClaim.take(lanes, new UUID(8, 8));
    LaneName lane = new LaneName("/unfinished/", lanes.requireFile().getFileId(), 0, 1);
    files.create(new Path(lane.ledger())).close();

    assertThatThrownBy(lanes::removeAll)
        .isInstanceOf(AppendException.class)
        .hasMessageContaining(lane.ledger());
    assertThat(lanes.writers(Optional.empty())).hasSize(1);
  }

  @Test
  void aWriterThatTellsALaneWhileTheFileIsFinishedKeepsItsId() throws Exception {
    LaneFiles lanes = open(new Path("/meanwhile/f"));
    long fileId = lanes.requireFile().getFileId();
    LaneName lane = new LaneName("/meanwhile/", fileId, 0, 9);
    UUID id = new UUID(10, 10);
    WriterClaim claim = WriterClaim.take(lanes, id);
    ClientProtocol namenode =
        afterListing(
            LaneName.ledgers(fileId),
            () -> {
              files.create(new Path(lane.ledger())).close();
              claim.enter(lane, 0);
              return lane;
            });
    new LaneFiles(files, namenode, lanes.path()).removeAll();

    assertThat(lanes.writers(Optional.of(id)))
        .singleElement()
        .returns(Optional.of(lane), WriterName::lane);
    assertThat(lanes.ledgers(Optional.empty())).containsExactly(lane);
  }

  /** The namenode; when it has first listed the names with this beginning, something happens. */
  private static ClientProtocol afterListing(String prefix, Callable<?> event) {
    ClientProtocol namenode = files.getClient().getNamenode();
    AtomicBoolean happened = new AtomicBoolean();
    return (ClientProtocol)
        Proxy.newProxyInstance(
            ClientProtocol.class.getClassLoader(),
            new Class<?>[] {ClientProtocol.class},
            (proxy, method, arguments) -> {
              try {
                Object answer = method.invoke(namenode, arguments);
                if (method.getName().equals("getListing")
                    && new String((byte[]) arguments[1], StandardCharsets.UTF_8).startsWith(prefix)
                    && happened.compareAndSet(false, true)) {
                  event.call();
                }
                return answer;
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }

  // ---- random lives of producers --------------------------------------------------------------

  private static final Path SHARED = new Path("/random/f");
  private static final int PRODUCERS = 3;
  private static final int LIVES = 8;
  private static final int FAULTS_PERCENT = 8;

  private final Queue<NumberedRecord> acknowledged = new ConcurrentLinkedQueue<>();
  private final Queue<RecordAppender> abandoned = new ConcurrentLinkedQueue<>();
  private final Queue<Thread> survivors = new ConcurrentLinkedQueue<>();

  @Test
  void eachRecordOfAnIdIsInTheFileOnceAndInOrder() throws Exception {
    Long given = Long.getLong("seed");
    long seed = given == null ? new Random().nextLong() : given;
    System.out.println("seed " + seed);
    Random faults = new Random(seed);
    servers.misbehave(
        () ->
            faults.nextInt(100) < FAULTS_PERCENT
                ? Fate.values()[1 + faults.nextInt(Fate.values().length - 1)]
                : Fate.STORED);
    ExecutorService producers = Executors.newFixedThreadPool(PRODUCERS);
    try {
      List<Callable<Void>> all = new ArrayList<>();
      for (int i = 0; i < PRODUCERS; i++) {
        int producer = i;
        all.add(() -> live(producer, new Random(seed + producer)));
      }
      for (Future<Void> ended : producers.invokeAll(all)) {
        ended.get();
      }
    } finally {
      producers.shutdownNow();
    }
    for (Thread survivor : survivors) {
      survivor.join();
    }
    abandoned.forEach(WriterIdsAtNamenodeTest::closeLate);
    finish(SHARED);
    check(NumberedRecord.read(files, SHARED));
  }

  /** The lives of a producer: each process ends in another way, and the last one closes. */
  private Void live(int producer, Random random) throws Exception {
    UUID id = new UUID(9, producer);
    for (int life = 0; life < LIVES; life++) {
      RecordAppender appender = RecordAppender.open(files, SHARED, id, OPTIONS);
      long next = appender.lastStored().orElse(-1) + 1;
      for (NumberedRecord known : acknowledged) {
        if (known.producer() == producer) {
          assertThat(known.number()).as("life %d begins at %d", life, next).isLessThan(next);
        }
      }
      int records = random.nextInt(50);
      for (int i = 0; i < records; i++) {
        appendAs(appender, new NumberedRecord(producer, life, next + i));
        Thread.sleep(random.nextInt(8) == 0 ? random.nextInt(10) : 0);
      }
      end(appender, life == LIVES - 1 ? 0 : random.nextInt(4), producer, life, next + records);
    }
    return null;
  }

  private void end(RecordAppender appender, int how, int producer, int life, long next)
      throws IOException {
    switch (how) {
      case 0 -> appender.close();
      case 1 -> abandoned.add(appender); // its threads go on with what waits
      case 2 -> {
        appender.flush();
        abandoned.add(appender);
      }
      default -> {
        Thread survivor = new Thread(() -> appendUntilRefused(appender, producer, life, next));
        survivors.add(survivor);
        survivor.start();
        abandoned.add(appender);
      }
    }
  }

  private void appendAs(RecordAppender appender, NumberedRecord record) throws IOException {
    appender.append(record.bytes()).thenRun(() -> acknowledged.add(record));
  }

  /** A process that is alive when another one has its id. */
  private void appendUntilRefused(RecordAppender appender, int producer, int life, long first) {
    try {
      for (long number = first; ; number++) {
        appendAs(appender, new NumberedRecord(producer, life, number));
        Thread.sleep(1);
      }
    } catch (IOException | InterruptedException refused) {
      return;
    }
  }

  private static void closeLate(RecordAppender appender) {
    try {
      appender.close();
    } catch (IOException anotherProcessHasTheId) {
      return;
    }
  }

  private void check(List<NumberedRecord> found) {
    for (int i = 0; i < PRODUCERS; i++) {
      int producer = i;
      List<Long> numbers =
          found.stream()
              .filter(record -> record.producer() == producer)
              .map(NumberedRecord::number)
              .toList();
      for (int number = 0; number < numbers.size(); number++) {
        assertThat(numbers.get(number))
            .as("record %d of producer %d", number, producer)
            .isEqualTo(number);
      }
    }
    assertThat(found).containsAll(acknowledged);
    assertThat(found).as("some records").hasSizeGreaterThan(PRODUCERS * LIVES);
  }
}
