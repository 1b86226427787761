package io.ebbfs.manager.view;

import io.ebbfs.manager.kafka.Consumers;
import io.ebbfs.protocol.proto.CodingProtos.ChangesProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPositionRow;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the {@link NamespaceView} as the namenode is. A thread follows the change stream and reads
 * the changed rows by id. The thread reads all rows, page by page, if the view is new, if Kafka has
 * lost records, or if the namenode could not publish some changes. While Kafka is away, the thread
 * reads all rows whenever someone asks for a fresh view. Thread-safe.
 */
public final class ViewFollower implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ViewFollower.class);
  private static final String TOPIC = "ebbfs.changes";
  private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
  private static final ViewPositionRow NO_POSITION =
      ViewPositionRow.newBuilder().setNextOffset(0).setTopicId("").setChangesLost(0).build();
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration SHORT_POLL = Duration.ofMillis(20);
  private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(5);
  private static final long CONNECT_EVERY_MILLIS = 2_000;

  /** A broker that starts together with the manager listens within this time. */
  private static final long BROKER_STARTS_MILLIS = 20_000;

  /** So many files are read sooner than a broker starts. */
  private static final long FEW_FILES = 100_000;

  private static final int BROKER_MILLIS = 500;
  private static final int TOPIC_PROBES = 10;
  private static final long TOPIC_PROBE_MILLIS = 200;
  private static final long MARK_MILLIS = 5_000;
  private static final long MOST_MARK_MILLIS = 30_000;
  private static final int IDS_PER_CALL = 1_000;
  private static final int MOST_RECORDS = 100;

  /** Pages of a reading that follow each other before others may read rows anew. */
  private static final int PAGES_IN_ORDER = 4;

  /** Entries of renamed and pinned directories that are looked at between two polls. */
  private static final int ENTRIES_PER_POLL = 1_000;

  private static final Duration SPREAD_TIME = Duration.ofMillis(50);

  /** Rows that are sorted by edited policies between two polls; an answer may wait for them. */
  private static final int ROWS_PER_POLL = 5_000;

  /** Inodes whose directories the listener of the view is told between two polls. */
  private static final int PLACES_PER_POLL = 1_000;

  private static final Duration SORT_TIME = Duration.ofMillis(40);

  /** Readings that nobody waits for take at most this part of the time. */
  private static final int READING_PART = 10;

  /**
   * The state of the view.
   *
   * @param following whether changes come from Kafka
   * @param complete whether the view was filled
   * @param problem why no changes come; null for none
   * @param readings how often everything was read since the start of the process
   * @param changes ids that were read because they have changed
   */
  public record Status(
      boolean following,
      boolean complete,
      String problem,
      long files,
      long readings,
      long changes) {}

  private final String servers;
  private final NamenodeGateway namenode;
  private final NamespaceView view;
  private final Thread thread = new Thread(this::run, "view-follower");
  private final Object monitor = new Object();
  // Held from a question to the namenode until its answer is in the view: of two answers about the
  // same row, the later one stays.
  private final Object order = new Object();
  private final ExecutorService asking =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread asker = new Thread(task, "view-asker");
            asker.setDaemon(true);
            return asker;
          });
  // Used by the thread alone.
  private long readings;
  private long changes;
  private long connectedAtMillis;
  private long startedAtMillis;
  // Whether paths, pins or edited policies are being spread over the rows, or places asked for.
  private boolean isBusy;
  // Under the monitor.
  private long wantedReading;
  private long doneReading;
  private final Set<String> awaitedMarks = new HashSet<>();
  private NamenodeException failure;
  private boolean hasTriedToConnect;
  private boolean everRead;
  private long lastReadingMillis;
  private long lastReadingTookMillis;
  // Grows with each answer that is put into the view; by several threads, and then not exactly.
  private volatile long progress;
  private volatile boolean stopping;
  private volatile boolean following;
  private volatile boolean complete;
  private volatile String problem = "not connected yet";
  private volatile Consumer<byte[], byte[]> consumer;
  private volatile Status status;

  public ViewFollower(String servers, NamenodeGateway namenode, NamespaceView view) {
    this.servers = servers;
    this.namenode = namenode;
    this.view = view;
    thread.setDaemon(true);
    note();
  }

  public void start() {
    thread.start();
  }

  public Status status() {
    return status;
  }

  private void note() {
    status =
        new Status(
            following, complete, following ? null : problem, view.files(), readings, changes);
  }

  // ---- for those who use the view ---------------------------------------------------------------

  /**
   * Returns once the view has all that was committed before the call.
   *
   * @throws NamenodeException if the namenode does not answer
   */
  public void catchUp() {
    switch (awaitMark()) {
      case SEEN -> {}
      case LAGS ->
          throw new NamenodeException(
              "the view of the namespace lags behind, because many files change or move; try again later");
      case NOT_FOLLOWED -> awaitReading();
    }
  }

  /**
   * The same, but does not read everything if that would take more than a tenth of the time.
   *
   * @return whether the view has all that was committed before the call
   * @throws NamenodeException if the namenode does not answer
   */
  public boolean catchUpIfCheap() {
    Mark mark = awaitMark();
    if (mark == Mark.NOT_FOLLOWED && !isReadingTooOften()) {
      awaitReading();
      return true;
    }
    return mark == Mark.SEEN;
  }

  /**
   * Whether the view was filled; fills it if it was not. It may be old while Kafka is away.
   *
   * @throws NamenodeException if the namenode does not answer
   */
  public boolean isUsable() {
    awaitFirstConnection();
    if (!complete) {
      awaitReading();
    }
    return complete;
  }

  private boolean isReadingTooOften() {
    synchronized (monitor) {
      return everRead && now() - lastReadingMillis < lastReadingTookMillis * READING_PART;
    }
  }

  /** What has become of a mark. */
  private enum Mark {
    SEEN,
    /** The changes before it are still being read, or a large tree follows a rename. */
    LAGS,
    NOT_FOLLOWED
  }

  private Mark awaitMark() {
    awaitFirstConnection();
    if (!following || !complete) {
      return Mark.NOT_FOLLOWED;
    }
    String mark = UUID.randomUUID().toString();
    synchronized (monitor) {
      awaitedMarks.add(mark);
    }
    try {
      long changesLost = namenode.clusterWithMark(mark).getChangesLost();
      return noteChangesLost(changesLost) ? Mark.NOT_FOLLOWED : await(mark);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Mark.LAGS;
    } finally {
      synchronized (monitor) {
        awaitedMarks.remove(mark);
      }
    }
  }

  private Mark await(String mark) throws InterruptedException {
    long begin = now();
    long progressedMillis = begin;
    long before = progress();
    synchronized (monitor) {
      while (awaitedMarks.contains(mark) && following && !stopping) {
        if (progress() != before) {
          before = progress();
          progressedMillis = now();
        }
        if (now() - progressedMillis > MARK_MILLIS) {
          return Mark.NOT_FOLLOWED;
        }
        if (now() - begin > MOST_MARK_MILLIS) {
          return Mark.LAGS;
        }
        monitor.wait(100);
      }
      if (awaitedMarks.contains(mark)) {
        return Mark.NOT_FOLLOWED;
      }
      return view.movesAreLeft() ? Mark.LAGS : Mark.SEEN;
    }
  }

  /** One answer may move a large tree, which takes a while. */
  private long progress() {
    return progress + view.walked();
  }

  /**
   * After a restart the first connection finds the place of the view in the stream. Before that
   * nobody knows whether everything has to be read.
   *
   * @throws NamenodeException if the namenode does not answer
   */
  private void awaitFirstConnection() {
    synchronized (monitor) {
      if (!hasTriedToConnect) {
        await(() -> hasTriedToConnect);
      }
    }
  }

  private void awaitReading() {
    synchronized (monitor) {
      long wanted = ++wantedReading;
      await(() -> doneReading >= wanted);
    }
  }

  /**
   * Waits until the follower has done something. The caller holds the monitor.
   *
   * @throws NamenodeException if the follower fails before, or ends
   */
  private void await(BooleanSupplier done) {
    failure = null;
    monitor.notifyAll();
    try {
      while (!done.getAsBoolean() && failure == null && !stopping && thread.isAlive()) {
        monitor.wait(1_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!done.getAsBoolean()) {
      throw failure != null
          ? failure
          : new NamenodeException("the view of the namespace is not kept now; try again later");
    }
  }

  private static long now() {
    return System.nanoTime() / 1_000_000;
  }

  // ---- the thread -------------------------------------------------------------------------------

  private void run() {
    startedAtMillis = now();
    while (!stopping) {
      try {
        if (following) {
          poll();
        } else {
          connectNowAndThen();
        }
        readIfWanted();
        boolean entriesAreLeft = view.spread(ENTRIES_PER_POLL, SPREAD_TIME);
        boolean rowsAreSorted = view.sortSome(ROWS_PER_POLL, SORT_TIME);
        boolean isAskedFor = complete && view.tellListener(PLACES_PER_POLL);
        isBusy = entriesAreLeft || rowsAreSorted || isAskedFor;
        if (isBusy) {
          progress++; // who waits for a mark waits on
        }
      } catch (WakeupException e) {
        // close() woke the consumer; the loop ends.
      } catch (NamenodeException e) {
        failed(e);
      } catch (KafkaException e) {
        disconnect(e.getMessage());
      } catch (RuntimeException e) {
        if (!stopping) {
          LOG.error("The view of the namespace does not follow: {}", e.getMessage(), e);
          failed(new NamenodeException("the view of the namespace fails: " + e.getMessage()));
        }
      }
      note();
    }
    closeConsumer();
  }

  private void failed(NamenodeException e) {
    // The changes of the last poll are not in the view, so the next connection polls them again.
    if (following) {
      disconnect(e.getMessage());
    }
    synchronized (monitor) {
      failure = e;
      monitor.notifyAll();
    }
    pause(1_000);
  }

  private void pause(long millis) {
    synchronized (monitor) {
      try {
        if (!stopping) {
          monitor.wait(millis);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        stopping = true;
      }
    }
  }

  private void disconnect(String why) {
    if (following) {
      LOG.warn("Changes do not come from Kafka at {} any more: {}", servers, why);
    }
    following = false;
    problem = why;
    closeConsumer();
    synchronized (monitor) {
      monitor.notifyAll();
    }
  }

  private void closeConsumer() {
    Consumer<byte[], byte[]> old = consumer;
    consumer = null;
    if (old != null) {
      old.close(Duration.ofSeconds(1));
    }
  }

  // ---- the change stream ------------------------------------------------------------------------

  private void connectNowAndThen() {
    boolean wanted;
    synchronized (monitor) {
      wanted = wantedReading > doneReading || connectedAtMillis == 0;
    }
    if (!wanted) {
      pause((isBusy ? SHORT_POLL : POLL).toMillis());
    }
    if (now() - connectedAtMillis < CONNECT_EVERY_MILLIS) {
      return; // what somebody waits for is read without the stream
    }
    boolean tried = now() - startedAtMillis > BROKER_STARTS_MILLIS || view.files() < FEW_FILES;
    try {
      if (anyBrokerListens()) {
        connect();
        tried = true;
      } else {
        problem = "no broker listens at " + servers;
      }
    } catch (NamenodeException e) {
      tried = false;
      throw e;
    } finally {
      connectedAtMillis = now();
      if (!following) {
        closeConsumer();
      }
      synchronized (monitor) {
        hasTriedToConnect |= tried;
        monitor.notifyAll();
      }
    }
  }

  /** Kafka's client waits for seconds for a broker that is down, and a reading may be wanted. */
  private boolean anyBrokerListens() {
    for (String broker : servers.split(",")) {
      int colon = broker.lastIndexOf(':');
      if (colon < 0) {
        continue;
      }
      try (Socket socket = new Socket()) {
        String host = broker.substring(0, colon).strip();
        int port = Integer.parseInt(broker.substring(colon + 1).strip());
        socket.connect(new InetSocketAddress(host, port), BROKER_MILLIS);
        return true;
      } catch (IOException e) {
        LOG.debug("{}: {}", broker, e.getMessage());
      }
    }
    return false;
  }

  /** Follows the stream from where the view is, or from its end if everything has to be read. */
  private void connect() {
    Consumer<byte[], byte[]> connected =
        Consumers.connect(servers, "ebbfs-manager-view", MOST_RECORDS);
    consumer = connected;
    String topicId = topicId();
    if (topicId.isEmpty()) {
      // The first record makes the topic, and perhaps nothing changes for hours.
      namenode.clusterWithMark(UUID.randomUUID().toString());
      for (int i = 0; i < TOPIC_PROBES && topicId.isEmpty(); i++) {
        pause(TOPIC_PROBE_MILLIS);
        topicId = topicId();
      }
      if (topicId.isEmpty()) {
        disconnect("topic " + TOPIC + " does not exist yet");
        return;
      }
    }
    connected.assign(List.of(PARTITION));
    long begin = connected.beginningOffsets(List.of(PARTITION), PROBE_TIMEOUT).get(PARTITION);
    long end = connected.endOffsets(List.of(PARTITION), PROBE_TIMEOUT).get(PARTITION);
    String topic = topicId;
    long lost = namenode.cluster().getChangesLost();
    Optional<ViewPositionRow> position =
        view.position()
            .filter(row -> row.getTopicId().equals(topic) && row.getChangesLost() == lost)
            .filter(row -> begin <= row.getNextOffset() && row.getNextOffset() <= end);
    if (position.isPresent()) {
      connected.seek(PARTITION, position.get().getNextOffset());
      complete = true;
    } else {
      connected.seek(PARTITION, end);
      readEverything(end, topic);
    }
    following = true;
    LOG.info("Following the changes in topic {} at {}", TOPIC, servers);
  }

  /** A topic that was deleted and made again has another id. Empty if there is no topic. */
  private String topicId() {
    Map<String, Object> settings =
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
            servers,
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            (int) PROBE_TIMEOUT.toMillis(),
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
            (int) PROBE_TIMEOUT.toMillis());
    try (Admin admin = Admin.create(settings)) {
      return admin
          .describeTopics(List.of(TOPIC))
          .allTopicNames()
          .get()
          .get(TOPIC)
          .topicId()
          .toString();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return "";
      }
      throw new KafkaException(e.getCause());
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  private void poll() {
    ConsumerRecords<byte[], byte[]> records;
    try {
      records = consumer.poll(isBusy ? SHORT_POLL : POLL);
    } catch (OffsetOutOfRangeException e) {
      LOG.warn("Kafka has deleted changes that were not read yet: everything is read again");
      view.setPosition(NO_POSITION);
      disconnect("the next change is not in the topic any more");
      return;
    }
    if (records.isEmpty()) {
      return;
    }
    Set<Long> inodes = new HashSet<>();
    Set<Long> stripes = new HashSet<>();
    Set<Long> pinned = new HashSet<>();
    List<String> marks = new ArrayList<>();
    long next = 0;
    for (ConsumerRecord<byte[], byte[]> record : records) {
      ChangesProto change = parse(record);
      inodes.addAll(change.getFileIdsList());
      inodes.addAll(change.getDirectoryIdsList());
      stripes.addAll(change.getStripeIdsList());
      pinned.addAll(change.getPinnedIdsList());
      if (change.hasMark()) {
        marks.add(change.getMark());
      }
      next = record.offset() + 1;
    }
    read(inodes, stripes);
    pinned.removeAll(inodes);
    readPins(pinned);
    view.setPosition(view.position().orElseThrow().toBuilder().setNextOffset(next).build());
    synchronized (monitor) {
      awaitedMarks.removeAll(marks);
      monitor.notifyAll();
    }
  }

  private static ChangesProto parse(ConsumerRecord<byte[], byte[]> record) {
    try {
      return ChangesProto.parseFrom(record.value());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(
          "the change at offset %d of %s cannot be read: delete the topic, and everything is read"
                  .formatted(record.offset(), TOPIC)
              + " from the namenode",
          e);
    }
  }

  /** Stripes first: then the state of the files is known at once. */
  private void read(Set<Long> inodes, Set<Long> stripes) {
    refreshStripes(stripes);
    for (List<Long> ids : parts(inodes)) {
      synchronized (order) {
        view.putInodes(ids, namenode.inodes(ids));
      }
      progress++;
    }
    changes += inodes.size() + stripes.size();
  }

  private void readPins(Set<Long> directories) {
    for (List<Long> ids : parts(directories)) {
      synchronized (order) {
        view.putPins(ids, namenode.inodes(ids));
      }
      progress++;
    }
    changes += directories.size();
  }

  /**
   * Reads stripes anew. What a stripe has lost changes without a change of its row, when servers
   * come and go.
   *
   * @throws NamenodeException if the namenode does not answer
   */
  public void refreshStripes(Collection<Long> stripes) {
    for (List<Long> ids : parts(stripes)) {
      synchronized (order) {
        view.putStripes(ids, namenode.stripes(ids));
      }
      progress++;
    }
  }

  private static List<List<Long>> parts(Collection<Long> ids) {
    List<Long> all = new ArrayList<>(ids);
    List<List<Long>> parts = new ArrayList<>();
    for (int from = 0; from < all.size(); from += IDS_PER_CALL) {
      parts.add(all.subList(from, Math.min(from + IDS_PER_CALL, all.size())));
    }
    return parts;
  }

  // ---- readings of everything -------------------------------------------------------------------

  private void readIfWanted() {
    synchronized (monitor) {
      if (wantedReading <= doneReading) {
        return;
      }
    }
    ViewPositionRow before = view.position().orElse(NO_POSITION);
    readEverything(before.getNextOffset(), before.getTopicId());
  }

  /**
   * Reads all stripes, directories and files. Changes that are committed meanwhile come in the
   * stream later.
   *
   * @param nextOffset from where on the stream has to be read afterwards; what comes before the
   *     reading is read again by id, and does no harm
   */
  private void readEverything(long nextOffset, String topicId) {
    long wanted;
    synchronized (monitor) {
      wanted = wantedReading;
    }
    long begin = now();
    GetClusterResponseProto cluster = namenode.cluster();
    view.beginReading();
    ByteString cursor = null;
    do {
      cursor =
          readPages(
              cursor,
              namenode::stripes,
              page -> view.putStripes(List.of(), page),
              page -> page.hasCursor() ? page.getCursor() : null);
    } while (cursor != null && !stopping);
    do {
      cursor =
          readPages(
              cursor,
              namenode::inodes,
              view::putPage,
              page -> page.hasCursor() ? page.getCursor() : null);
    } while (cursor != null && !stopping);
    if (stopping) {
      return;
    }
    view.endReading();
    view.setPosition(
        ViewPositionRow.newBuilder()
            .setNextOffset(nextOffset)
            .setTopicId(topicId)
            .setChangesLost(cluster.getChangesLost())
            .build());
    readings++;
    complete = true;
    long took = now() - begin;
    LOG.debug("All {} files were read in {} ms", view.files(), took);
    synchronized (monitor) {
      doneReading = Math.max(doneReading, wanted);
      everRead = true;
      lastReadingMillis = now();
      lastReadingTookMillis = took;
      monitor.notifyAll();
    }
  }

  /**
   * Reads some pages: the namenode makes the next page while this thread puts the one before.
   *
   * @param ask takes the cursor of the page before; null for the first page
   * @return the cursor of the last page; null at the end
   */
  private <P> ByteString readPages(
      ByteString first,
      Function<ByteString, P> ask,
      java.util.function.Consumer<P> put,
      Function<P, ByteString> cursorOf) {
    synchronized (order) {
      P page = ask.apply(first);
      for (int pages = 1; ; pages++) {
        ByteString cursor = cursorOf.apply(page);
        boolean isLast = cursor == null || pages == PAGES_IN_ORDER || stopping;
        CompletableFuture<P> next =
            isLast ? null : CompletableFuture.supplyAsync(() -> ask.apply(cursor), asking);
        put.accept(page);
        note();
        if (isLast) {
          return cursor;
        }
        page = answer(next);
      }
    }
  }

  private static <P> P answer(CompletableFuture<P> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /**
   * Compares what the namenode says of lost changes with the view, and has everything read if that
   * differs.
   *
   * @return whether changes were lost
   */
  public boolean noteChangesLost(long changesLost) {
    boolean lost =
        following && view.position().filter(row -> row.getChangesLost() != changesLost).isPresent();
    if (lost && !isReadingTooOften()) {
      synchronized (monitor) {
        wantedReading = Math.max(wantedReading, doneReading + 1);
        monitor.notifyAll();
      }
    }
    return lost;
  }

  /** Whoever waits for the view stops waiting. */
  public void stop() {
    stopping = true;
    synchronized (monitor) {
      monitor.notifyAll();
    }
    Consumer<byte[], byte[]> connected = consumer;
    if (connected != null) {
      connected.wakeup();
    }
  }

  @Override
  public void close() {
    stop();
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    asking.shutdown();
  }
}
