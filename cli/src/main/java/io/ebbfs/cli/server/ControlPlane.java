package io.ebbfs.cli.server;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.definitions.CodesFile;
import io.ebbfs.common.config.ConfigException;
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
 * The manager and the raid-node in one process. The process may be killed at any instant: its next
 * start takes up the work that was under way.
 */
final class ControlPlane {
  private static final int NAMENODE_CONNECT_TIMEOUT_MILLIS = 5_000;

  /** Wrong options or configuration. */
  private static final int EXIT_CONFIG = 2;

  /** The cluster has fewer failure domains than a policy asks for. */
  private static final int EXIT_CLUSTER = 3;

  /** A port, a directory or a store cannot be used. */
  private static final int EXIT_RESOURCE = 4;

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
      CodeRegistry codes = CodesFile.readIn(options.conf());
      ManagerConfig config = ManagerConfig.load(options.conf());
      Runtime.getRuntime().addShutdownHook(new Thread(this::close, "stop"));
      return start(options, codes, config, RaidConfig.read(options.conf()));
    } catch (IllegalArgumentException | ConfigException e) {
      return fail(EXIT_CONFIG, e.getMessage());
    } catch (IOException e) {
      return fail(EXIT_RESOURCE, e.getMessage());
    }
  }

  private int start(
      ControlPlaneOptions options, CodeRegistry codes, ManagerConfig config, RaidConfig raidConfig)
      throws IOException, ConfigException, InterruptedException {
    ServiceKey key =
        options.serviceKey() == null ? ServiceKey.NONE : ServiceKey.read(options.serviceKey());
    NamenodeClient namenode =
        started(
            new NamenodeClient(
                options.namenode(),
                RpcSettings.tryOnce(config.limits().rpcTimeoutMillis())
                    .withConnectTimeout(NAMENODE_CONNECT_TIMEOUT_MILLIS)
                    .withConnectRetries(0, 1),
                key));
    Manager manager =
        started(
            new Manager(
                new ManagerOptions(
                    options.conf(),
                    options.data().resolve("manager"),
                    address(options),
                    options.kafka(),
                    options.httpHost(),
                    options.httpPort(),
                    Optional.ofNullable(options.apiToken())),
                config,
                codes,
                namenode::coding,
                Clock.systemUTC()));
    manager.start();
    if (config.startup().requireFailureDomains()) {
      List<Evaluation.Refusal> refusals = manager.awaitFailureDomains();
      if (!refusals.isEmpty()) {
        refusals.forEach(r -> System.err.println("ebbfs: " + r.message() + "; " + r.remedy()));
        return fail(EXIT_CLUSTER, "the control plane stops");
      }
    }
    Optional<String> differs = codesDiffer(codes, namenode, options);
    if (differs.isPresent()) {
      return fail(EXIT_CONFIG, differs.get());
    }
    started(
            RaidNode.overRpc(
                raidConfig, codes, options.data().resolve("raid-node"), options.namenode(), key))
        .start();
    ready(options.readyFile(), "http://" + options.httpHost() + ":" + manager.httpPort() + "/");
    return 0;
  }

  private static String address(ControlPlaneOptions options) {
    return options.namenode().getHostString() + ":" + options.namenode().getPort();
  }

  /** What the namenode defines otherwise; if it is away, it is asked once it is there. */
  private Optional<String> codesDiffer(
      CodeRegistry codes, NamenodeClient namenode, ControlPlaneOptions options) {
    String address = address(options);
    CodesAgreement agreement = started(new CodesAgreement(codes, namenode::coding, address));
    try {
      return agreement.check();
    } catch (IOException e) {
      agreement.watch(what -> System.exit(fail(EXIT_CONFIG, what)));
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
