package io.ebbfs.testbed.cluster;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.common.failpoint.FailPoints;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.NamenodeAddresses;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.ClusterLock;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.Ports;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.testbed.process.ServerLog;
import io.ebbfs.testbed.process.ShiftedClocks;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A whole cluster on this machine: its real processes, below one directory. The processes outlive
 * this object and this JVM; {@link #open} finds them again through {@code cluster.json}.
 *
 * <p>Thread-safe: one method acts at a time. {@link #start} and {@link #stop} also exclude other
 * JVMs.
 */
public final class LocalCluster {
  private static final RpcSettings NAMENODE_RPC = RpcSettings.tryOnce(20_000).withIdle(5_000);
  private static final RpcSettings CHUNK_SERVER_RPC = RpcSettings.tryOnce(5_000).withIdle(5_000);

  private final Build build;
  private final Path directory;
  private final Launcher launcher;
  private final ProcessStarter starter;
  private final ClusterFailPoints failPoints;
  private ClusterLayout layout;

  private LocalCluster(Build build, Path directory, ClusterLayout layout) {
    this.build = build;
    this.directory = directory;
    this.launcher = new Launcher(directory);
    this.starter = new ProcessStarter(launcher);
    this.failPoints = new ClusterFailPoints(launcher.failPoints());
    this.layout = layout;
  }

  /** Chooses the ports of a new cluster and writes its configuration. Starts nothing. */
  public static LocalCluster create(Build build, ClusterSpec spec) throws ClusterException {
    spec.check();
    Path directory = spec.directory().toAbsolutePath().normalize();
    if (ClusterLayout.existsIn(directory)) {
      throw new ClusterException(
          "%s holds a cluster already: start it with 'up', or choose another --dir"
              .formatted(directory));
    }
    Ports ports = spec.choosePorts();
    if (spec.lab() == null) {
      ports.checkFree();
    }
    ClusterFiles.create(spec, build.conf());
    ClusterLayout layout =
        new ClusterLayout(
            ClusterLayout.FORMAT,
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
    return new LocalCluster(build, absolute, ClusterLayout.read(absolute));
  }

  /** Whether a directory holds a cluster. */
  public static boolean exists(Path directory) {
    return ClusterLayout.existsIn(directory);
  }

  // ---- what it is -------------------------------------------------------------------------------

  /** The directory of the cluster's configuration, logs and data. */
  public Path directory() {
    return directory;
  }

  /** The numbers of servers and disks, the ports and the processes. */
  public synchronized ClusterLayout layout() {
    return layout;
  }

  /** Command lines of stock HDFS clients of this cluster. */
  public synchronized StockClient stockClient() {
    return new StockClient(
        build,
        directory.resolve("conf/client"),
        List.of(layout.namenodeList().split(",")),
        layout.webs(),
        layout.blockSizeBytes());
  }

  /** A client of the namenode. The caller closes it. */
  public synchronized NamenodeClient namenodeClient() throws IOException {
    return new NamenodeClient(
        NamenodeAddresses.parse(layout.namenodeList()), NAMENODE_RPC, serviceKey());
  }

  /** A client of a chunk server. The caller closes it. */
  public synchronized ChunkServerClient chunkServerClient(int server) throws IOException {
    return new ChunkServerClient(
        new InetSocketAddress(
            layout.host(ProcessNames.server(server)), layout.ports().ipc().get(server)),
        CHUNK_SERVER_RPC,
        serviceKey());
  }

  /** The key that the services of the cluster share; made if the cluster has none yet. */
  public synchronized ServiceKey serviceKey() throws IOException {
    ClusterFiles.makeSecrets(directory);
    return ServiceKey.read(ClusterFiles.serviceKey(directory));
  }

  /** The address of the REST API and the dashboard. */
  public synchronized String httpAddress() {
    return "http://" + layout.address(ProcessNames.CONTROL, layout.ports().http());
  }

  /** The address of a chunk server. */
  public synchronized String hostOf(int server) {
    return layout.host(ProcessNames.server(server));
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

  /** Gives fail points to the processes that start from now on. See docs/faults.md. */
  public void withFailPoints() throws ClusterException {
    failPoints.enable();
  }

  /** Makes a process do something at a point: the first that reaches it, if none is named. */
  public void arm(FailPoint point, FailPoints.Armed armed) throws ClusterException {
    failPoints.arm(point, armed);
  }

  /** Takes back what {@link #arm} did, unless the point has fired. */
  public void disarm(FailPoint point) throws ClusterException {
    failPoints.disarm(point);
  }

  /** Whether a point has fired since it was armed. */
  public boolean hasFired(FailPoint point) {
    return failPoints.hasFired(point);
  }

  // ---- clocks -----------------------------------------------------------------------------------

  /** The wall clocks of the processes, to be shifted while they run. */
  public ShiftedClocks clocks() {
    return launcher.clocks();
  }

  // ---- the whole --------------------------------------------------------------------------------

  /**
   * Moves a stopped cluster to other ports.
   *
   * @param port the namenode's, from which the others follow; null leaves them as they are
   * @param http the HTTP port; null leaves it as it is
   */
  public synchronized void movePorts(Integer port, Integer http) throws ClusterException {
    Ports ports =
        port == null
            ? layout.ports()
            : Ports.choose(port, http, layout.servers(), layout.namenodes());
    layout = layout.withPorts(http == null ? ports : ports.withHttp(http));
  }

  /** Has HttpFS serve WebHDFS in a process of its own from the next start on. */
  public synchronized void withWebHdfs() throws ClusterException {
    if (!layout.hasWebHdfs()) {
      layout = layout.withPorts(layout.ports().withWebHdfs());
    }
  }

  /**
   * Starts every process and waits until each chunk server is registered. If the start fails, every
   * process is stopped again.
   */
  public void start() throws ClusterException, InterruptedException {
    startWithout(Set.of());
  }

  /** The same without some chunk servers, which may be started later: they join as new ones. */
  public synchronized void startWithout(Set<Integer> later)
      throws ClusterException, InterruptedException {
    for (int server : later) {
      checkServer(server);
    }
    try (ClusterLock lock = ClusterLock.take(directory)) {
      checkNotRunning();
      ClusterFiles.checkSpace(directory);
      prepareNetwork();
      ProcessStarter.checkBuilt(commands());
      Thread interrupted = new Thread(this::abort);
      Runtime.getRuntime().addShutdownHook(interrupted);
      try (NamenodeClient client = namenodeClient()) {
        stockClient().writeConf();
        save();
        starter.all(commands(), client, later);
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
      // The JVM is ending: the hook runs and stops the processes.
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
                    .formatted(directory, alive, layout.servers() + layout.fixedProcesses())
                + " with 'down' first");
      }
    } catch (IOException e) {
      throw new ClusterException("the processes of this machine cannot be listed: " + e, e);
    }
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

  /** Runs in the shutdown hook, while another thread may be about to launch a process. */
  private void abort() {
    starter.abort();
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
    ProcessStopper.endAll(launcher, layout, force);
  }

  // ---- one process ------------------------------------------------------------------------------

  /** Kills a chunk server with SIGKILL; false if it was not running. */
  public synchronized boolean killServer(int server) throws ClusterException, InterruptedException {
    checkServer(server);
    return kill(ProcessNames.server(server));
  }

  /** Starts a chunk server that is not running and waits until it is ready. */
  public synchronized void startServer(int server) throws ClusterException, InterruptedException {
    checkServer(server);
    startOne(ProcessNames.server(server), () -> starter.server(commands(), server));
  }

  /** Ends a chunk server with SIGTERM and waits for it. */
  public synchronized void stopServer(int server) throws ClusterException, InterruptedException {
    checkServer(server);
    terminate(ProcessNames.server(server), false);
  }

  /** Kills chunk servers with SIGKILL, all at once. */
  public synchronized void killServers(List<Integer> servers)
      throws ClusterException, InterruptedException {
    List<ProcessId> processes = new ArrayList<>();
    for (int server : servers) {
      checkServer(server);
      ProcessId process = layout.processes().get(ProcessNames.server(server));
      if (process != null) {
        processes.add(process);
      }
    }
    ProcessStopper.end(processes, true);
    for (int server : servers) {
      terminate(ProcessNames.server(server), true);
    }
  }

  /** Starts chunk servers that are not running, all at once, and waits until each is ready. */
  public synchronized void startServers(List<Integer> servers)
      throws ClusterException, InterruptedException {
    for (int server : servers) {
      checkServer(server);
    }
    try {
      starter.servers(commands(), servers);
    } catch (IOException e) {
      throw new ClusterException("servers %s could not be started: %s".formatted(servers, e), e);
    }
  }

  /** Stalls a process, as a machine that hangs does, or lets it go on; false if it is down. */
  public synchronized boolean stall(String name, boolean stalled)
      throws ClusterException, InterruptedException {
    ProcessId process = running().get(name);
    if (process == null) {
      return false;
    }
    process.stall(stalled);
    return true;
  }

  /** The file of a process's output. */
  public ServerLog log(String name) {
    return commands().log(name);
  }

  /** Kills the namenode with SIGKILL; false if it was not running. */
  public synchronized boolean killNamenode() throws ClusterException, InterruptedException {
    return kill(ProcessNames.NAMENODE);
  }

  /** Starts the namenode and waits until it is ready. */
  public void startNamenode() throws ClusterException, InterruptedException {
    startNamenode(0);
  }

  /** Starts one of the namenodes and waits until it is ready: as a standby, if others run. */
  public synchronized void startNamenode(int index) throws ClusterException, InterruptedException {
    startOne(ProcessNames.namenode(index), () -> starter.namenode(commands(), index));
  }

  /** Starts a namenode or a node of the namenodes' store by its name. */
  public synchronized void start(String name) throws ClusterException, InterruptedException {
    int index = ProcessNames.indexOf(name);
    if (ProcessNames.isStore(name)) {
      // It is filled later with what it missed.
      startOne(name, () -> starter.store(commands(), index));
    } else {
      startNamenode(index);
    }
  }

  /** Whether each row of the namenodes' store has all its copies: then a node may fail. */
  public boolean storeIsWhole() {
    ClusterLayout now = layout();
    return IntStream.range(0, now.ports().store().size())
        .allMatch(
            i -> HttpProbe.isReady(now.host(ProcessNames.store(i)), now.ports().storeHttp(i)));
  }

  /** Kills the Kafka broker with SIGKILL; false if it was not running. */
  public synchronized boolean killKafka() throws ClusterException, InterruptedException {
    return kill(ProcessNames.KAFKA);
  }

  /** Starts the Kafka broker and waits until it listens. */
  public synchronized void startKafka() throws ClusterException, InterruptedException {
    startOne(ProcessNames.KAFKA, () -> starter.kafka(commands()));
  }

  /** Kills the control plane with SIGKILL; false if it was not running. */
  public synchronized boolean killControl() throws ClusterException, InterruptedException {
    return kill(ProcessNames.CONTROL);
  }

  /** Ends the control plane with SIGTERM and waits for it. */
  public synchronized void stopControl() throws ClusterException, InterruptedException {
    terminate(ProcessNames.CONTROL, false);
  }

  /** Stalls the control plane or lets it go on. Nothing is repaired or converted meanwhile. */
  public synchronized void stallControl(boolean stalled)
      throws ClusterException, InterruptedException {
    if (!stall(ProcessNames.CONTROL, stalled)) {
      throw new ClusterException("the control plane is not running: nothing to stall");
    }
  }

  /** Starts the control plane and waits until it is ready. */
  public synchronized void startControl() throws ClusterException, InterruptedException {
    startOne(ProcessNames.CONTROL, () -> starter.control(commands()));
  }

  private interface Start {
    void run() throws ClusterException, IOException, InterruptedException;
  }

  private void startOne(String name, Start start) throws ClusterException, InterruptedException {
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

  /** Kills a process with SIGKILL; false if it was not running. */
  public synchronized boolean kill(String name) throws ClusterException, InterruptedException {
    return terminate(name, true);
  }

  private boolean terminate(String name, boolean force)
      throws ClusterException, InterruptedException {
    ProcessId process = layout.processes().remove(name);
    boolean was = process != null && process.isAlive();
    if (was) {
      ProcessStopper.end(List.of(process), force);
    }
    try {
      save();
    } catch (IOException e) {
      throw new ClusterException("cluster.json in %s: %s".formatted(directory, e), e);
    }
    return was;
  }

  // ---- common -----------------------------------------------------------------------------------

  private ProcessCommands commands() {
    return new ProcessCommands(build, directory, layout());
  }

  private void save() throws IOException {
    layout.write(directory);
  }

  private void checkServer(int server) throws ClusterException {
    if (server < 0 || server >= layout().servers()) {
      throw new ClusterException(
          "no server %d: the cluster has servers 0 to %d"
              .formatted(server, layout().servers() - 1));
    }
  }
}
