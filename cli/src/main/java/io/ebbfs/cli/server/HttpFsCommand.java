package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.ServerProcess;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.HttpFsFiles;
import io.ebbfs.testbed.cluster.StockClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints the command line of Apache HttpFS, which serves WebHDFS. */
@Command(
    name = "httpfs",
    description = {
      "Serves WebHDFS (webhdfs://HOST:PORT) by Apache HttpFS until SIGTERM stops it.",
      "The namenodes are those of cluster.yaml. Their 'proxyUsers' must have the user of this"
          + " process."
    })
public final class HttpFsCommand implements Callable<Integer>, ServerProcess {
  private static final String HEAP = "EBB_HTTPFS_HEAP";
  private static final long BLOCK_SIZE_BYTES = 128L << 20;

  @Mixin private HelpOption help;

  @Option(
      names = "--conf",
      required = true,
      paramLabel = "DIR",
      description = "The directory with cluster.yaml.")
  private Path conf;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "For its own configuration and its logs (default: httpfs-data).")
  private Path data = Path.of("httpfs-data");

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description = "The address to listen at (default: the one on the way to the namenode).")
  private String host;

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "The port to listen at (default: 14000).")
  private int port = 14_000;

  @Override
  public String messagePrefix() {
    return "httpfs";
  }

  @Override
  public Integer call() throws ConfigException, ClusterException, IOException {
    ClusterConfig cluster = ClusterConfig.read(conf);
    List<String> namenodes = cluster.namenodeAddresses();
    InetSocketAddress namenode = cluster.namenodes().get(0);
    Build build = Build.find();
    HttpFsFiles files = new HttpFsFiles(data.toAbsolutePath());
    files.write(
        new StockClient(build, files.conf(), namenodes, List.of(), BLOCK_SIZE_BYTES),
        host == null ? MachineAddress.toward(namenode) : host,
        port);
    String heap = System.getenv().getOrDefault(HEAP, HttpFsFiles.HEAP);
    files.command(build.classPath(HttpFsFiles.MODULE), heap).forEach(System.out::println);
    return 0;
  }
}
