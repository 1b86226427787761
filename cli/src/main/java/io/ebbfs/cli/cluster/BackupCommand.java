package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
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
      "'backups' of namenode.yaml. docs/metadata-store.md says how it is restored."
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
    String address = namenode == null ? cluster.namenode() : namenode;
    try (DistributedFileSystem client = new DistributedFileSystem()) {
      client.initialize(URI.create("hdfs://" + address), new Configuration());
      client.saveNamespace(0, 0);
    }
    System.out.println("The namenode at " + address + " has taken a backup of its metadata.");
    return 0;
  }
}
