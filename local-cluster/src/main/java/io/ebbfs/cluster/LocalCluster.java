package io.ebbfs.cluster;

import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.settings.FailPoint;
import io.ebbfs.settings.FailPoints;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A whole cluster on this machine: its real processes, below one directory. The processes outlive
 * this object and this JVM; {@link #open} finds them again through {@code cluster.json}.
 *
 * <p>Thread-safe: one method acts at a time. {@link #start} and {@link #stop} also exclude other
 * JVMs.
 */
public final class LocalCluster {
  private static final long JVM_START_MILLIS = 60_000;
  private static final long SERVER_START_MILLIS = 30_000;
  private static final long REGISTER_MILLIS = 60_000;
  private static final long STOP_MILLIS = 10_000;
  private static final int LOG_LINES = 15;

  private final Build build;
  private final Path directory;
  private final Launcher launcher;
  private final Object launching = new Object();
  private boolean aborted;
  private Layout layout;

  private LocalCluster(Build build, Path directory, Layout layout) {
    this.build = build;
    this.directory = directory;
    this.launcher = new Launcher(directory);
    this.layout = layout;
  }

  /** Lays out a new cluster; nothing is started and nothing but configuration written. */
  public static LocalCluster create(Build build, ClusterSpec spec) throws ClusterException {
    spec.check();
    Path directory = spec.directory().toAbsolutePath().normalize();
    if (Layout.existsIn(directory)) {
      throw new ClusterException(
          "%s holds a cluster already: start it with 'up', or choose another --dir"
              .formatted(directory));
    }
    Ports ports = spec.choosePorts();
    if (spec.lab() == null) {
      ports.checkFree();
    }
    ClusterFiles.create(spec, build.conf());
    Layout layout =
        new Layout(
            Layout.FORMAT,
            spec.servers(),
            spec.disks(),
            spec.blockSizeBytes(),
            spec.heartbeatMillis(),
            ports,
            spec.lab(),
            spec.racks(),
            Map.of());
    return new LocalCluster(build, directory, layout);
  }

  /** The cluster that lives in a directory, running or not. */
  public static LocalCluster open(Build build, Path directory) throws ClusterException {
    Path absolute = directory.toAbsolutePath().normalize();
    return new LocalCluster(build, absolute, Layout.read(absolute));
  }

  /** Whether a directory holds a cluster. */
  public static boolean exists(Path directory) {
    return Layout.existsIn(directory);
  }

  // ---- what it is -------------------------------------------------------------------------------

  /** Where everything of it lives. */
  public Path directory() {
    return directory;
  }

  /** How it is laid out, and its processes. */
  public synchronized Layout layout() {
    return layout;
  }

  /** Stock HDFS clients for it. */
  public synchronized StockClient stockClient() {
    return new StockClient(
        build,
        directory.resolve("conf/client"),
        layout.address(Commands.NAMENODE, layout.ports().namenode()),
        layout.blockSizeBytes());
  }

  /** The namenode, asked directly; the caller closes it. */
  public synchronized NamenodeClient namenodeClient() throws IOException {
    return new NamenodeClient(layout.host(Commands.NAMENODE), layout.ports().namenode());
  }

  /** A chunk server, asked directly; the caller closes it. */
  public synchronized ChunkServerClient chunkServerClient(int server) throws IOException {
    return new ChunkServerClient(
        layout.host(Commands.server(server)), layout.ports().ipc().get(server));
  }

  /** The address of the REST API and the dashboard. */
  public synchronized String httpAddress() {
    return "http://" + layout.address(Commands.CONTROL, layout.ports().http());
  }

  /** The address of a chunk server. */
  public synchronized String hostOf(int server) {
    return layout.host(Commands.server(server));
  }

  /** The directory of one disk. */
  public Path diskDirectory(int server, int disk) throws ClusterException {
    checkServer(server);
    if (disk < 0 || disk >= layout().disks()) {
      throw new ClusterException(
          "no disk %d: server %d has disks 0 to %d".formatted(disk, server, layout().disks() - 1));
    }
    return commands().disk(server, disk);
  }

  /** The processes that run, by name. */
  public synchronized Map<String, ProcessId> running() {
    Map<String, ProcessId> running = new java.util.TreeMap<>(layout.processes());
    running.values().removeIf(process -> !process.isAlive());
    return running;
  }

  // ---- fail points ------------------------------------------------------------------------------

  /** Processes that are started from now on have fail points. See docs/faults.md. */
  public Path withFailPoints() throws ClusterException {
    try {
      return Files.createDirectories(launcher.failPoints());
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(launcher.failPoints(), e), e);
    }
  }

  /** Makes a process do something at a point; the first that passes it, if none is named. */
  public void arm(FailPoint point, FailPoints.Armed armed) throws ClusterException {
    Path directory = launcher.failPoints();
    if (!Files.isDirectory(directory)) {
      throw new ClusterException(
          "the processes of %s have no fail points: stop it, and start it with 'up --fail-points'"
              .formatted(this.directory));
    }
    try {
      FailPoints.arm(directory, point, armed);
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(directory, e), e);
    }
  }

  /** Takes back what {@link #arm} did, unless the point has fired. */
  public void disarm(FailPoint point) throws ClusterException {
    try {
      Files.deleteIfExists(launcher.failPoints().resolve(point.pointName()));
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(launcher.failPoints(), e), e);
    }
  }

  /** Whether a point has fired since it was armed; false as long as it waits. */
  public boolean hasFired(FailPoint point) {
    return !Files.exists(launcher.failPoints().resolve(point.pointName()))
        && Files.exists(launcher.failPoints().resolve(point.pointName() + FailPoints.FIRED));
  }

  // ---- the whole --------------------------------------------------------------------------------

  /** Moves a stopped cluster to other ports; null leaves the HTTP port, or all others, alone. */
  public synchronized void movePorts(Integer port, Integer http) throws ClusterException {
    Ports ports = port == null ? layout.ports() : Ports.choose(port, http, layout.servers());
    layout = layout.withPorts(http == null ? ports : ports.withHttp(http));
  }

  /**
   * Starts every process and waits until each chunk server is registered. If anything fails,
   * whatever was started is stopped again.
   */
  public synchronized void start() throws ClusterException, InterruptedException {
    try (ClusterLock lock = ClusterLock.take(directory)) {
      checkNotRunning();
      ClusterFiles.checkSpace(directory);
      prepareNetwork();
      // Before anything is started: is everything there that will be?
      build.chunkServer();
      for (String module : List.of("namespace", "broker", "control-plane", "stock-client")) {
        build.classPath(module);
      }
      Thread interrupted = new Thread(this::abort);
      Runtime.getRuntime().addShutdownHook(interrupted);
      try {
        stockClient().writeConf();
        save();
        startAll();
      } catch (ClusterException | InterruptedException | RuntimeException e) {
        stopAfterFailure();
        throw e;
      } catch (IOException e) {
        stopAfterFailure();
        throw new ClusterException("%s: %s".formatted(directory, e), e);
      } finally {
        removeHook(interrupted);
      }
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is going down, and the hook with it does its work.
      return;
    }
  }

  private void prepareNetwork() throws ClusterException, InterruptedException {
    if (layout.lab() == null) {
      layout.ports().checkFree();
    } else {
      layout.lab().up(layout.servers());
    }
  }

  private void checkNotRunning() throws ClusterException {
    try {
      int alive = launcher.running().size();
      if (alive > 0) {
        throw new ClusterException(
            "the cluster in %s is already running (%d of %d processes): see 'status', or stop it"
                    .formatted(directory, alive, layout.servers() + 3)
                + " with 'down' first");
      }
    } catch (IOException e) {
      throw new ClusterException("the processes of this machine cannot be listed: " + e, e);
    }
  }

  private void startAll() throws ClusterException, IOException, InterruptedException {
    launchNamenode();
    launchKafka();
    awaitReady(Commands.NAMENODE, JVM_START_MILLIS);
    for (int server = 0; server < layout.servers(); server++) {
      launchServer(server);
    }
    // It does without the broker until there is one.
    launchControl();
    awaitKafka();
    for (int server = 0; server < layout.servers(); server++) {
      awaitReady(Commands.server(server), SERVER_START_MILLIS);
    }
    awaitReady(Commands.CONTROL, JVM_START_MILLIS);
    awaitRegistered();
  }

  /** Stops every process: SIGTERM first, SIGKILL for what does not end in time. */
  public synchronized void stop() throws ClusterException, InterruptedException {
    try (ClusterLock lock = ClusterLock.take(directory)) {
      stopProcesses(false);
    } catch (IOException e) {
      throw new ClusterException("stopping the cluster in %s: %s".formatted(directory, e), e);
    }
  }

  /** Kills every process with SIGKILL, all at once. */
  public synchronized void killAll() throws ClusterException, InterruptedException {
    try {
      stopProcesses(true);
    } catch (IOException e) {
      throw new ClusterException("killing the cluster in %s: %s".formatted(directory, e), e);
    }
  }

  /** From the shutdown hook, while another thread may be about to launch the next process. */
  private void abort() {
    synchronized (launching) {
      aborted = true;
    }
    stopAfterFailure();
  }

  private void stopAfterFailure() {
    try {
      stopProcesses(true);
    } catch (IOException | ClusterException e) {
      throw new IllegalStateException("processes of " + directory + " may be left: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void stopProcesses(boolean force)
      throws IOException, ClusterException, InterruptedException {
    // The namenode and the broker go last: the others say goodbye to them.
    Set<ProcessId> last = new LinkedHashSet<>();
    for (String name : List.of(Commands.NAMENODE, Commands.KAFKA)) {
      ProcessId process = layout.processes().get(name);
      if (process != null) {
        last.add(process);
      }
    }
    Set<ProcessId> all = new LinkedHashSet<>(layout.processes().values());
    all.addAll(launcher.running());
    List<ProcessId> first = new ArrayList<>(all);
    first.removeAll(last);
    if (force) {
      first.addAll(last);
    }
    end(first, force);
    end(List.copyOf(last), force);
    end(launcher.running(), true);
    layout.processes().clear();
    save();
  }

  private void end(List<ProcessId> processes, boolean force)
      throws ClusterException, InterruptedException {
    processes.forEach(process -> process.signal(force));
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_MILLIS);
    for (ProcessId process : processes) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (process.awaitEnd(Math.max(0, left))) {
        continue;
      }
      process.signal(true);
      if (!process.awaitEnd(STOP_MILLIS)) {
        throw new ClusterException(
            "process %d does not end, not even by SIGKILL: look at its state in /proc/%d/stat"
                .formatted(process.pid(), process.pid()));
      }
    }
  }

  // ---- one process ------------------------------------------------------------------------------

  /** Kills a chunk server with SIGKILL; false if it was not running. */
  public synchronized boolean killServer(int server) throws ClusterException, InterruptedException {
    checkServer(server);
    return kill(Commands.server(server));
  }

  /** Starts a chunk server that is not running and waits until it is ready. */
  public synchronized void startServer(int server) throws ClusterException, InterruptedException {
    checkServer(server);
    single(
        Commands.server(server),
        () -> {
          launchServer(server);
          awaitReady(Commands.server(server), SERVER_START_MILLIS);
        });
  }

  /** Ends a chunk server with SIGTERM and waits for it. */
  public synchronized void stopServer(int server) throws ClusterException, InterruptedException {
    checkServer(server);
    terminate(Commands.server(server), false);
  }

  /** Kills the namenode with SIGKILL; false if it was not running. */
  public synchronized boolean killNamenode() throws ClusterException, InterruptedException {
    return kill(Commands.NAMENODE);
  }

  /** Starts the namenode and waits until it is ready. */
  public synchronized void startNamenode() throws ClusterException, InterruptedException {
    single(
        Commands.NAMENODE,
        () -> {
          launchNamenode();
          awaitReady(Commands.NAMENODE, JVM_START_MILLIS);
        });
  }

  /** Kills the Kafka broker with SIGKILL; false if it was not running. */
  public synchronized boolean killKafka() throws ClusterException, InterruptedException {
    return kill(Commands.KAFKA);
  }

  /** Starts the Kafka broker and waits until it listens. */
  public synchronized void startKafka() throws ClusterException, InterruptedException {
    single(
        Commands.KAFKA,
        () -> {
          launchKafka();
          awaitKafka();
        });
  }

  /** Kills the control plane with SIGKILL; false if it was not running. */
  public synchronized boolean killControl() throws ClusterException, InterruptedException {
    return kill(Commands.CONTROL);
  }

  /** Stalls the control plane, so that nothing is repaired or converted, or lets it go on. */
  public synchronized void stallControl(boolean stalled)
      throws ClusterException, InterruptedException {
    ProcessId process = running().get(Commands.CONTROL);
    if (process == null) {
      throw new ClusterException("the control plane is not running: nothing to stall");
    }
    process.stall(stalled);
  }

  /** Starts the control plane and waits until it is ready. */
  public synchronized void startControl() throws ClusterException, InterruptedException {
    single(
        Commands.CONTROL,
        () -> {
          launchControl();
          awaitReady(Commands.CONTROL, JVM_START_MILLIS);
        });
  }

  private interface Start {
    void run() throws ClusterException, IOException, InterruptedException;
  }

  private void single(String name, Start start) throws ClusterException, InterruptedException {
    if (running().containsKey(name)) {
      throw new ClusterException(
          "%s is already running (pid %d)".formatted(name, layout.processes().get(name).pid()));
    }
    try {
      start.run();
    } catch (ClusterException | InterruptedException e) {
      terminate(name, true);
      throw e;
    } catch (IOException e) {
      terminate(name, true);
      throw new ClusterException("%s could not be started: %s".formatted(name, e), e);
    }
  }

  private boolean kill(String name) throws ClusterException, InterruptedException {
    return terminate(name, true);
  }

  private boolean terminate(String name, boolean force)
      throws ClusterException, InterruptedException {
    ProcessId process = layout.processes().remove(name);
    boolean was = process != null && process.isAlive();
    if (was) {
      end(List.of(process), force);
    }
    try {
      save();
    } catch (IOException e) {
      throw new ClusterException("cluster.json in %s: %s".formatted(directory, e), e);
    }
    return was;
  }

  // ---- launching --------------------------------------------------------------------------------

  private void launchNamenode() throws ClusterException, IOException {
    launch(Commands.NAMENODE, commands().namenode());
  }

  private void launchKafka() throws ClusterException, IOException, InterruptedException {
    Path data = directory.resolve(Commands.KAFKA);
    Path properties = KafkaFiles.writeProperties(data, layout.host(Commands.KAFKA), layout.ports());
    KafkaFiles.format(data, properties, build.classPath("broker"), commands().log(Commands.KAFKA));
    launch(Commands.KAFKA, commands().kafka(properties));
  }

  private void launchControl() throws ClusterException, IOException {
    launch(Commands.CONTROL, commands().control());
  }

  private void launchServer(int server) throws ClusterException, IOException {
    for (int disk = 0; disk < layout.disks(); disk++) {
      Files.createDirectories(commands().disk(server, disk));
    }
    launch(Commands.server(server), commands().chunkServer(server));
  }

  private void launch(String name, List<String> command) throws ClusterException, IOException {
    Path work = directory.resolve(name);
    Files.createDirectories(work);
    Path ready = commands().readyFile(name);
    Files.createDirectories(ready.getParent());
    Files.deleteIfExists(ready);
    synchronized (launching) {
      if (aborted) {
        throw new ClusterException("stopped while starting " + name);
      }
      List<String> placed = layout.lab() == null ? command : layout.lab().command(name, command);
      layout.processes().put(name, launcher.start(name, placed, work, commands().log(name)));
      save();
    }
  }

  private Commands commands() {
    return new Commands(build, directory, layout());
  }

  private void save() throws IOException {
    layout.write(directory);
  }

  // ---- waiting ----------------------------------------------------------------------------------

  private interface Condition {
    boolean holds() throws IOException;
  }

  private void awaitReady(String name, long timeoutMillis)
      throws ClusterException, InterruptedException {
    await(name, timeoutMillis, () -> Files.exists(commands().readyFile(name)));
  }

  private void awaitKafka() throws ClusterException, InterruptedException {
    InetSocketAddress address =
        new InetSocketAddress(layout.host(Commands.KAFKA), layout.ports().kafka());
    await(
        Commands.KAFKA,
        JVM_START_MILLIS,
        () -> {
          try (Socket socket = new Socket()) {
            socket.connect(address, 1000);
            return true;
          } catch (IOException e) {
            return false;
          }
        });
  }

  private void await(String name, long timeoutMillis, Condition condition)
      throws ClusterException, InterruptedException {
    ProcessId process = layout.processes().get(name);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    try {
      while (!condition.holds()) {
        if (!process.isAlive()) {
          throw new ClusterException(failure(name, "ended before it was ready"));
        }
        if (System.nanoTime() > deadline) {
          throw new ClusterException(
              failure(name, "was not ready after %d s".formatted(timeoutMillis / 1000)));
        }
        Thread.sleep(20);
      }
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(name, e), e);
    }
  }

  private String failure(String name, String what) {
    ServerLog log = commands().log(name);
    return "%s %s; its log %s ends with%s".formatted(name, what, log.file(), log.tail(LOG_LINES));
  }

  private void awaitRegistered() throws ClusterException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(REGISTER_MILLIS);
    String seen = "nothing";
    try (NamenodeClient namenode = namenodeClient()) {
      while (System.nanoTime() < deadline) {
        GetClusterResponseProto cluster = namenode.cluster();
        long live = cluster.getServersList().stream().filter(ServerStatusProto::getLive).count();
        if (live >= layout.servers() && !cluster.getSafeMode()) {
          return;
        }
        seen =
            "%d of %d servers are live%s"
                .formatted(live, layout.servers(), cluster.getSafeMode() ? ", in safe mode" : "");
        Thread.sleep(50);
      }
    } catch (IOException e) {
      throw new ClusterException(failure(Commands.NAMENODE, "does not answer: " + e), e);
    }
    throw new ClusterException(
        failure(Commands.NAMENODE, "says after %d s: %s".formatted(REGISTER_MILLIS / 1000, seen)));
  }

  private void checkServer(int server) throws ClusterException {
    if (server < 0 || server >= layout().servers()) {
      throw new ClusterException(
          "no server %d: the cluster has servers 0 to %d"
              .formatted(server, layout().servers() - 1));
    }
  }
}
