package io.ebbfs.testbed.cluster;

import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Starts the processes of a cluster, in the order in which they need each other, and waits until
 * each is ready. Each process is written down in {@code cluster.json} as soon as it runs.
 *
 * <p>Only {@link #abort} may be called while another method runs.
 */
final class ProcessStarter {
  private final Launcher launcher;
  private final Object launching = new Object();
  private boolean aborted;

  ProcessStarter(Launcher launcher) {
    this.launcher = launcher;
  }

  /** Fails if a part of the build is missing that a start will need. */
  static void checkBuilt(ProcessCommands commands) throws ClusterException {
    commands.build().chunkServer();
    for (String module : List.of("testbed/broker", "cli", "testbed/stock-client")) {
      commands.build().classPath(module);
    }
    if (commands.layout().hasWebHdfs()) {
      commands.build().classPath(HttpFsFiles.MODULE);
    }
  }

  /**
   * Starts every process but some chunk servers. The control plane works without the broker until
   * the broker is ready.
   */
  void all(ProcessCommands commands, NamenodeClient client, Set<Integer> later)
      throws ClusterException, IOException, InterruptedException {
    ReadinessWaiter waiter = new ReadinessWaiter(commands);
    List<Integer> servers =
        IntStream.range(0, commands.layout().servers())
            .filter(server -> !later.contains(server))
            .boxed()
            .toList();
    int namenodes = commands.layout().namenodes();
    for (int node = 0; node < commands.layout().ports().store().size(); node++) {
      launchStore(commands, node);
    }
    for (int i = 0; i < namenodes; i++) {
      launchNamenode(commands, i);
    }
    launchKafka(commands);
    for (int i = 0; i < namenodes; i++) {
      waiter.namenode(i);
    }
    for (int server = 0; server < commands.layout().servers(); server++) {
      makeDisks(commands, server);
    }
    for (int server : servers) {
      launchServer(commands, server);
    }
    launchControl(commands);
    waiter.kafka();
    for (int server : servers) {
      waiter.server(server);
    }
    if (commands.layout().hasWebHdfs()) {
      launch(commands, ProcessNames.HTTPFS, commands.httpFs());
      waiter.webHdfs();
    }
    waiter.control();
    waiter.registered(client, servers.size());
  }

  void namenode(ProcessCommands commands, int index)
      throws ClusterException, IOException, InterruptedException {
    launchNamenode(commands, index);
    new ReadinessWaiter(commands).namenode(index);
  }

  void store(ProcessCommands commands, int index) throws ClusterException, IOException {
    launchStore(commands, index);
  }

  void kafka(ProcessCommands commands) throws ClusterException, IOException, InterruptedException {
    launchKafka(commands);
    new ReadinessWaiter(commands).kafka();
  }

  void control(ProcessCommands commands)
      throws ClusterException, IOException, InterruptedException {
    launchControl(commands);
    new ReadinessWaiter(commands).control();
  }

  void server(ProcessCommands commands, int server)
      throws ClusterException, IOException, InterruptedException {
    makeDisks(commands, server);
    launchServer(commands, server);
    new ReadinessWaiter(commands).server(server);
  }

  /** Launches several servers before it waits for the first. */
  void servers(ProcessCommands commands, List<Integer> servers)
      throws ClusterException, IOException, InterruptedException {
    for (int server : servers) {
      makeDisks(commands, server);
      launchServer(commands, server);
    }
    ReadinessWaiter waiter = new ReadinessWaiter(commands);
    for (int server : servers) {
      waiter.server(server);
    }
  }

  /** No process is launched from now on. A launch that has begun ends before this returns. */
  void abort() {
    synchronized (launching) {
      aborted = true;
    }
  }

  private void launchNamenode(ProcessCommands commands, int index)
      throws ClusterException, IOException {
    launch(commands, ProcessNames.namenode(index), commands.namenode(index));
  }

  private void launchStore(ProcessCommands commands, int index)
      throws ClusterException, IOException {
    launch(commands, ProcessNames.store(index), commands.store(index));
  }

  private void launchKafka(ProcessCommands commands)
      throws ClusterException, IOException, InterruptedException {
    ClusterLayout layout = commands.layout();
    Path data = commands.directory().resolve(ProcessNames.KAFKA);
    Path properties =
        KafkaFiles.writeProperties(data, layout.host(ProcessNames.KAFKA), layout.ports());
    KafkaFiles.format(
        data,
        properties,
        commands.build().classPath("testbed/broker"),
        commands.log(ProcessNames.KAFKA));
    launch(commands, ProcessNames.KAFKA, commands.kafka(properties));
  }

  private void launchControl(ProcessCommands commands) throws ClusterException, IOException {
    launch(commands, ProcessNames.CONTROL, commands.control());
  }

  /** Before the first chunk server starts, so that each server's count of disks is right. */
  private static void makeDisks(ProcessCommands commands, int server) throws IOException {
    for (Path disk : commands.disks(server)) {
      Files.createDirectories(disk);
    }
  }

  private void launchServer(ProcessCommands commands, int server)
      throws ClusterException, IOException {
    launch(commands, ProcessNames.server(server), commands.chunkServer(server));
  }

  private void launch(ProcessCommands commands, String name, List<String> command)
      throws ClusterException, IOException {
    Path work = Files.createDirectories(commands.directory().resolve(name));
    Path ready = commands.readyFile(name);
    Files.createDirectories(ready.getParent());
    Files.deleteIfExists(ready);
    ClusterLayout layout = commands.layout();
    synchronized (launching) {
      if (aborted) {
        throw new ClusterException("stopped while starting " + name);
      }
      List<String> placed = layout.lab() == null ? command : layout.lab().command(name, command);
      layout.processes().put(name, launcher.start(name, placed, work, commands.log(name)));
      layout.write(commands.directory());
    }
  }
}
