package io.ebbfs.controlplane;

import io.ebbfs.manager.Manager;
import io.ebbfs.manager.ManagerOptions;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.raid.RaidConfig;
import io.ebbfs.raid.RaidNode;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.settings.codes.CodesFile;
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
 * The process that adapts: the manager and the raid-node. Stopped by SIGTERM; may be killed at any
 * instant, what it was doing is taken up again.
 */
public final class ControlPlane {
  /** Wrong arguments or configuration. */
  private static final int EXIT_CONFIG = 2;

  /** The cluster has fewer failure domains than a policy asks for. */
  private static final int EXIT_CLUSTER = 3;

  /** A port, a directory or a store cannot be used. */
  private static final int EXIT_RESOURCE = 4;

  /** What runs, the latest first: closed in this order. */
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  ControlPlane() {}

  /** Runs until stopped; the exit code says why it did not start. */
  public static void main(String[] arguments) throws InterruptedException {
    int code = new ControlPlane().run(arguments);
    if (code != 0) {
      // Threads of libraries must not keep a process alive that has nothing to do.
      System.exit(code);
    }
  }

  /** Starts everything; 0 if it runs, otherwise the exit code, and nothing is left running. */
  int run(String[] arguments) throws InterruptedException {
    int code = startOrFail(arguments);
    if (code != 0) {
      close();
    }
    return code;
  }

  private int startOrFail(String[] arguments) throws InterruptedException {
    try {
      Arguments options = Arguments.parse(arguments);
      CodesFile.defineIn(options.conf());
      ManagerConfig config = ManagerConfig.load(options.conf());
      Runtime.getRuntime().addShutdownHook(new Thread(this::close, "stop"));
      return start(options, config, RaidConfig.read(options.conf()));
    } catch (IllegalArgumentException | ConfigException e) {
      return fail(EXIT_CONFIG, e.getMessage());
    } catch (IOException e) {
      return fail(EXIT_RESOURCE, e.getMessage());
    }
  }

  private int start(Arguments options, ManagerConfig config, RaidConfig raidConfig)
      throws IOException, ConfigException, InterruptedException {
    NamenodeRpc namenode =
        started(new NamenodeRpc(options.namenode(), config.limits().rpcTimeoutMillis()));
    Manager manager =
        started(
            new Manager(
                new ManagerOptions(
                    options.conf(),
                    options.data().resolve("manager"),
                    options.kafka(),
                    options.httpHost(),
                    options.httpPort()),
                config,
                namenode.supplier(),
                Clock.systemUTC()));
    manager.start();
    if (config.startup().requireFailureDomains()) {
      List<Evaluation.Refusal> refusals = manager.awaitFailureDomains();
      if (!refusals.isEmpty()) {
        refusals.forEach(r -> System.err.println("ebbfs: " + r.message() + "; " + r.remedy()));
        return fail(EXIT_CLUSTER, "the control plane stops");
      }
    }
    Optional<String> differs = codesDiffer(namenode, options);
    if (differs.isPresent()) {
      return fail(EXIT_CONFIG, differs.get());
    }
    started(RaidNode.overRpc(raidConfig, options.data().resolve("raid-node"), options.namenode()))
        .start();
    ready(options.readyFile(), "http://" + options.httpHost() + ":" + manager.httpPort() + "/");
    return 0;
  }

  /** What the namenode defines otherwise; if it is away, it is asked once it is there. */
  private Optional<String> codesDiffer(NamenodeRpc namenode, Arguments options) {
    String address = options.namenode().getHostString() + ":" + options.namenode().getPort();
    CodesAgreement agreement = started(new CodesAgreement(namenode.supplier(), address));
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
