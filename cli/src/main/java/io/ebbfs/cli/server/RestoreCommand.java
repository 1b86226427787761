package io.ebbfs.cli.server;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.SharedStoreProvider;
import io.ebbfs.namenode.store.StoreRestore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Fills the empty nodes of a shared store from a backup, before the namenodes start. */
@Command(
    name = "restore",
    description = {
      "Fills the empty nodes of the store that several namenodes share from a backup.",
      "All nodes under 'store' of cluster.yaml have to run, and no namenode. docs/deploy.md has the steps."
    },
    footer = {
      "",
      "A namenode with a store of its own needs no command: its backup takes the place of the directory"
          + " 'metadata' of its data."
    })
public final class RestoreCommand implements Callable<Integer> {
  private static final long LOCK_TIMEOUT_MILLIS = 10_000;

  @Mixin private HelpOption help;

  @Option(
      names = "--conf",
      required = true,
      paramLabel = "DIR",
      description = "The configuration directory of the cluster.")
  private Path conf;

  @Parameters(
      paramLabel = "BACKUP",
      description = "The directory 'metadata-TIME' that a namenode has written.")
  private Path backup;

  @Override
  public Integer call() throws ConfigException, IOException {
    ClusterConfig cluster = ClusterConfig.read(conf);
    if (cluster.store().isEmpty()) {
      throw ClusterConfig.problem(
          "'store' is missing, so the namenode has a store of its own",
          "stop the namenode, and put the backup in the place of 'metadata' in its data");
    }
    String host =
        cluster.host().isEmpty() ? MachineAddress.toward(cluster.store().get(0)) : cluster.host();
    Path scratch = Files.createTempDirectory("ebb-restore");
    try (MetadataStore store =
        SharedStoreProvider.find().open(scratch, host, cluster.storeNodes(), LOCK_TIMEOUT_MILLIS)) {
      long rows = StoreRestore.run(backup, store);
      System.out.printf(
          "The store has the %d rows of %s. Start the namenodes now.%n", rows, backup);
    } finally {
      delete(scratch);
    }
    return 0;
  }

  private static void delete(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
