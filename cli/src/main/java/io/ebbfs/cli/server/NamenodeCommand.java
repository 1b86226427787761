package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeServer;
import io.ebbfs.namenode.SharedNamenode;
import io.ebbfs.namenode.rpc.ProxyUserSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A namenode process; SIGTERM stops it cleanly. */
@Command(
    name = "namenode",
    description = {
      "Runs a namenode until it is stopped by SIGTERM.",
      "The values of cluster.yaml go over those of namenode.yaml, and the options over both; a"
          + " later option wins over an earlier one."
    },
    footer = {
      "",
      "Exit codes: 0 after SIGTERM, 1 for a failure while it ran, 2 for wrong options or"
          + " configuration, 4 if a port, a directory or the store cannot be used."
    })
public final class NamenodeCommand implements Callable<Integer>, ServerProcess {
  private static final String FILE = "namenode.yaml";
  private static final String CODES = "codes.yaml";
  private static final String FSCK = "/fsck";

  @Mixin private HelpOption help;
  @Spec private CommandSpec command;

  @Option(
      names = "--conf",
      paramLabel = "DIR",
      description =
          "The configuration directory of the cluster, or a single file such as"
              + " conf/namenode.yaml.")
  private Path conf;

  @Option(
      names = "--ready-file",
      paramLabel = "FILE",
      description = "Gets the port once calls are answered.")
  private Path readyFile;

  /** Keys over the file, in the order of the command line. */
  private final List<NamenodeConfig.Override> overrides = new ArrayList<>();

  @Option(names = "--data", paramLabel = "DIR", description = "Where the metadata is kept.")
  void data(String value) {
    override("--data", "data", value);
  }

  @Option(names = "--host", paramLabel = "ADDRESS", description = "The address to listen at.")
  void host(String value) {
    override("--host", "host", value);
  }

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "The port to listen at; 0 means any free one.")
  void port(String value) {
    override("--port", "port", value);
  }

  @Option(
      names = "--kafka",
      paramLabel = "HOST:PORT",
      description = "Brokers that get an event for each opened file.")
  void kafka(String value) {
    override("--kafka", "kafka", value);
  }

  @Option(names = "--codes", paramLabel = "FILE", description = "A file that defines codes.")
  void codes(String value) {
    override("--codes", "codes", value);
  }

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "A key of the configuration; may be given many times.")
  void set(String setting) {
    if (setting == null) {
      return;
    }
    int equals = setting.indexOf('=');
    if (equals <= 0) {
      throw new ParameterException(
          command.commandLine(), "--set %s is not KEY=VALUE".formatted(setting));
    }
    override("--set " + setting, setting.substring(0, equals), setting.substring(equals + 1));
  }

  private void override(String argument, String key, String value) {
    if (value != null) {
      overrides.add(new NamenodeConfig.Override(argument, key, value));
    }
  }

  @Override
  public String messagePrefix() {
    return "namenode";
  }

  /** What the command line and its file ask for. */
  NamenodeConfig config() throws ConfigException, IOException {
    List<NamenodeConfig.Override> keys = new ArrayList<>(cluster());
    keys.addAll(overrides);
    return NamenodeConfig.of(file(), keys, Optional.ofNullable(readyFile));
  }

  /** What the directory says of the cluster as a whole: it goes over namenode.yaml. */
  private List<NamenodeConfig.Override> cluster() throws ConfigException, IOException {
    List<NamenodeConfig.Override> keys = new ArrayList<>();
    if (isDirectory()) {
      ClusterConfig cluster = ClusterConfig.read(conf);
      MachineAddress.ownOf(cluster.namenodes())
          .ifPresent(
              own -> {
                keys.add(key("host", own.getAddress().getHostAddress()));
                keys.add(key("port", String.valueOf(own.getPort())));
              });
      addIfSet(keys, "storeNodes", String.join(",", cluster.storeNodes()));
      addIfSet(keys, "kafka", cluster.kafka());
      addIfSet(keys, "serviceKey", cluster.serviceKey());
      Path codes = conf.resolve(CODES);
      addIfSet(keys, "codes", Files.exists(codes) ? codes.toString() : "");
    }
    return keys;
  }

  private static void addIfSet(List<NamenodeConfig.Override> keys, String key, String value) {
    if (!value.isEmpty()) {
      keys.add(key(key, value));
    }
  }

  private static NamenodeConfig.Override key(String key, String value) {
    return new NamenodeConfig.Override(ClusterConfig.FILE, key, value);
  }

  private boolean isDirectory() {
    return conf != null && Files.isDirectory(conf);
  }

  private Optional<Path> file() {
    return isDirectory()
        ? Optional.of(conf.resolve(FILE)).filter(Files::exists)
        : Optional.ofNullable(conf);
  }

  @Override
  public Integer call() throws ConfigException, IOException, InterruptedException {
    NamenodeConfig config = config();
    ServerLogging.use(
        "namenode", isDirectory() ? ClusterConfig.read(conf) : ClusterConfig.DEFAULTS);
    ProxyUserSettings.use(config.proxyUsers());
    StopSignal stop = StopSignal.install();
    try (StatusServer status = StatusServer.start(config.host(), config.httpPort())) {
      if (config.storeNodes().isEmpty()) {
        try (NamenodeServer server =
            NamenodeServer.start(config, Clock.systemUTC(), new SecureRandom())) {
          status.serve(FSCK, server.fsck());
          serve(config, status, server.state(), server.address(), stop);
        }
      } else {
        try (SharedNamenode server =
            SharedNamenode.start(config, Clock.systemUTC(), new SecureRandom())) {
          status.serve(FSCK, server.fsck());
          serve(config, status, server.state(), server.address(), stop);
        }
      }
    }
    return 0;
  }

  private static void serve(
      NamenodeConfig config,
      StatusServer status,
      StatusServer.State state,
      InetSocketAddress address,
      StopSignal stop)
      throws IOException, InterruptedException {
    status.show(state);
    if (config.readyFile() != null) {
      writeReady(config.readyFile(), address.getPort());
    }
    stop.await();
  }

  /** The file appears at once and whole, so that whoever waits for it can read it. */
  private static void writeReady(Path file, int port) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    Files.writeString(temporary, port + "\n", StandardCharsets.UTF_8);
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
