package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.ClusterDirectory;
import io.ebbfs.cli.server.ClusterConfig;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.protocol.rpc.NamenodeAddresses;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.StockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The cluster that a command speaks to: one on this machine, or one with a configuration. */
public final class ClusterAddress {
  /** Of files that clients write, as stock clients have it. */
  private static final long BLOCK_SIZE_BYTES = 128L << 20;

  private static final long CALL_TIMEOUT_MILLIS = 60_000;

  @Mixin private ClusterDirectory directory;

  @Option(
      names = "--conf",
      paramLabel = "DIR",
      description = "The configuration directory of a cluster on several machines.")
  private Path conf;

  /** Whether the command line names a cluster. */
  boolean isGiven() {
    return conf != null || directory.isGiven();
  }

  /** A stock client of the cluster. Its own configuration is deleted when this process ends. */
  StockClient client() throws ClusterException, ConfigException, IOException {
    if (conf == null) {
      return directory.open().stockClient();
    }
    Path files = Files.createTempDirectory("ebb-client");
    files.toFile().deleteOnExit();
    StockClient client =
        new StockClient(
            Build.find(),
            files,
            ClusterConfig.read(conf).namenodeAddresses(),
            webs(ClusterConfig.read(conf)),
            BLOCK_SIZE_BYTES);
    client.writeConf();
    try (Stream<Path> written = Files.list(files)) {
      written.forEach(file -> file.toFile().deleteOnExit());
    }
    return client;
  }

  /** Where the namenodes answer over HTTP, if the directory has their configuration. */
  private List<String> webs(ClusterConfig cluster) throws ConfigException {
    Path file = conf.resolve("namenode.yaml");
    int port =
        Files.exists(file)
            ? NamenodeConfig.of(Optional.of(file), List.of(), Optional.empty()).httpPort()
            : 0;
    return port == 0
        ? List.of()
        : cluster.namenodes().stream().map(at -> at.getHostString() + ":" + port).toList();
  }

  /** A client of the namenode that leads. The caller closes it. */
  NamenodeClient namenodeClient() throws ClusterException, ConfigException, IOException {
    if (conf == null) {
      return directory.open().namenodeClient();
    }
    ClusterConfig config = ClusterConfig.read(conf);
    return new NamenodeClient(
        new NamenodeAddresses(config.namenodes()),
        RpcSettings.tryOnce(CALL_TIMEOUT_MILLIS),
        ServiceKey.readIfNamed(config.serviceKey()));
  }

  /** All namenodes, each as HOST:PORT. */
  List<String> namenodes() throws ClusterException, ConfigException {
    return conf == null
        ? directory.open().stockClient().namenodes()
        : ClusterConfig.read(conf).namenodeAddresses();
  }
}
