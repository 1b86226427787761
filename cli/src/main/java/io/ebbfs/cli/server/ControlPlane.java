package io.ebbfs.cli.server;

import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.definitions.CodesFile;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.manager.Manager;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.ManagerOptions;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.RaidNode;
import io.ebbfs.raid.config.RaidConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The manager and the raid-node in one process, or one of them. The process may be killed at any
 * instant: its next start takes up the work that was under way.
 */
final class ControlPlane {
  private static final int NAMENODE_CONNECT_TIMEOUT_MILLIS = 5_000;

  /** What runs, the latest first: closed in this order. */
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Starts everything; 0 if it runs, otherwise the exit code, and nothing is left running. */
  int run(ControlPlaneOptions options) throws InterruptedException {
    int code = startOrFail(options);
    if (code != 0) {
      close();
    }
    return code;
  }

  private int startOrFail(ControlPlaneOptions options) throws InterruptedException {
    try {
      return start(options, CodesFile.readIn(options.conf()));
    } catch (IllegalArgumentException | ConfigException e) {
      return fail(ServerProcess.EXIT_CONFIGURATION, e.getMessage());
    } catch (IOException e) {
      return fail(ServerProcess.EXIT_RESOURCE, e.getMessage());
    }
  }

  private int start(ControlPlaneOptions options, CodeRegistry codes)
      throws IOException, ConfigException, InterruptedException {
    ManagerConfig config = ManagerConfig.load(options.conf());
    RaidConfig raidConfig = RaidConfig.read(options.conf());
    Runtime.getRuntime().addShutdownHook(new Thread(this::close, "stop"));
    ServiceKey key =
        options.serviceKey() == null ? ServiceKey.NONE : ServiceKey.read(options.serviceKey());
    NamenodeClient namenode = started(namenode(options, config, key));
    int httpPort = options.httpPort();
    if (options.runs(ControlPart.MANAGER)) {
      Manager manager = started(manager(options, config, codes, namenode));
      manager.start();
      httpPort = manager.httpPort();
      if (config.startup().requireFailureDomains() && !hasFailureDomains(manager)) {
        return fail(ServerProcess.EXIT_CLUSTER, "the control plane stops");
      }
    }
    Optional<String> differs = codesDiffer(codes, namenode, options);
    if (differs.isPresent()) {
      return fail(ServerProcess.EXIT_CONFIGURATION, differs.get());
    }
    if (options.runs(ControlPart.RAID_NODE)) {
      startRaidNode(options, codes, raidConfig, key);
    }
    ready(options.readyFile(), "http://" + options.httpHost() + ":" + httpPort + "/");
    return 0;
  }

  private static NamenodeClient namenode(
      ControlPlaneOptions options, ManagerConfig config, ServiceKey key) throws IOException {
    return new NamenodeClient(
        options.namenodes(),
        RpcSettings.tryOnce(config.limits().rpcTimeoutMillis())
            .withConnectTimeout(NAMENODE_CONNECT_TIMEOUT_MILLIS)
            .withConnectRetries(0, 1),
        key);
  }

  private static Manager manager(
      ControlPlaneOptions options,
      ManagerConfig config,
      CodeRegistry codes,
      NamenodeClient namenode)
      throws IOException, ConfigException {
    return new Manager(
        new ManagerOptions(
            options.conf(),
            options.data().resolve("manager"),
            options.namenodes().toString(),
            options.kafka(),
            options.httpHost(),
            options.httpPort(),
            Optional.ofNullable(options.apiToken())),
        config,
        codes,
        namenode::coding,
        Clock.systemUTC());
  }

  private static boolean hasFailureDomains(Manager manager) throws InterruptedException {
    List<Evaluation.Refusal> refusals = manager.awaitFailureDomains();
    refusals.forEach(r -> System.err.println("ebbfs: " + r.message() + "; " + r.remedy()));
    return refusals.isEmpty();
  }

  /** A raid-node alone has the HTTP port for its probes and metrics. */
  private void startRaidNode(
      ControlPlaneOptions options, CodeRegistry codes, RaidConfig config, ServiceKey key)
      throws IOException {
    Path data = options.data().resolve("raid-node");
    boolean alone = !options.runs(ControlPart.MANAGER);
    StatusServer status =
        started(StatusServer.start(options.httpHost(), alone ? options.httpPort() : 0));
    RaidNode raidNode = started(RaidNode.overRpc(config, codes, data, options.namenodes(), key));
    raidNode.start();
    status.show(raidNode);
  }

  /** What the namenode defines otherwise; if it is away, it is asked once it is there. */
  private Optional<String> codesDiffer(
      CodeRegistry codes, NamenodeClient namenode, ControlPlaneOptions options) {
    String address = options.namenodes().toString();
    CodesAgreement agreement = started(new CodesAgreement(codes, namenode::coding, address));
    try {
      return agreement.check();
    } catch (IOException e) {
      agreement.watch(what -> System.exit(fail(ServerProcess.EXIT_CONFIGURATION, what)));
      return Optional.empty();
    }
  }

  private <T extends AutoCloseable> T started(T part) {
    synchronized (parts) {
      parts.push(part);
    }
    return part;
  }

  private static void ready(Path file, String address) throws IOException {
    if (file != null) {
      Path next = file.resolveSibling(file.getFileName() + ".next");
      Files.writeString(next, address + "\n");
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static int fail(int code, String message) {
    System.err.println("ebbfs: " + message);
    return code;
  }

  void close() {
    synchronized (parts) {
      while (!parts.isEmpty()) {
        try {
          parts.pop().close();
        } catch (Exception e) {
          System.err.println("ebbfs: a part did not stop in order: " + e);
        }
      }
    }
  }
}
