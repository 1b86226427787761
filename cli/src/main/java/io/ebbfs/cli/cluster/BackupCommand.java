package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Has a running namenode take a backup of its metadata, as 'hdfs dfsadmin -saveNamespace' does. */
@Command(
    name = "backup",
    description = "Has the running namenode take a backup of its metadata.",
    footer = {
      "",
      "The backup is a directory in 'backups' of the namenode's data, or in the directory of the key",
      "'backups' of namenode.yaml. Of several namenodes, the one that leads takes it, on its machine.",
      "docs/deploy.md says how it is restored."
    })
public final class BackupCommand implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private ClusterAddress cluster;

  @Option(
      names = "--namenode",
      paramLabel = "HOST:PORT",
      description = "Another namenode than that of the cluster.")
  private String namenode;

  @Override
  public Integer call() throws ClusterException, ConfigException, IOException {
    List<String> namenodes = namenode == null ? cluster.namenodes() : List.of(namenode);
    String address = namenodes.size() == 1 ? namenodes.get(0) : leader(namenodes);
    Configuration conf = new Configuration();
    conf.setInt("ipc.client.rpc-timeout.ms", 0); // a backup takes as long as it takes
    try (DistributedFileSystem client = client(address, conf)) {
      client.saveNamespace(0, 0);
    }
    System.out.println("The namenode at " + address + " has taken a backup of its metadata.");
    return 0;
  }

  /** Of several namenodes, the one that leads takes backups. */
  private static String leader(List<String> namenodes) throws IOException {
    Configuration conf = new Configuration();
    conf.setInt("ipc.client.connect.max.retries", 1);
    IOException last = null;
    for (String address : namenodes) {
      try (DistributedFileSystem client = client(address, conf)) {
        if (client.getClient().getNamenode().getHAServiceState() == HAServiceState.ACTIVE) {
          return address;
        }
      } catch (IOException e) {
        last = e;
      }
    }
    throw new IOException(
        "none of the namenodes %s leads; look into their logs, or try again".formatted(namenodes),
        last);
  }

  private static DistributedFileSystem client(String address, Configuration conf)
      throws IOException {
    DistributedFileSystem client = new DistributedFileSystem();
    client.initialize(URI.create("hdfs://" + address), conf);
    return client;
  }
}
