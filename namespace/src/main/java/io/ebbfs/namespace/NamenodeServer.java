package io.ebbfs.namespace;

import io.ebbfs.namespace.block.BlockManager;
import io.ebbfs.namespace.block.BlockSettings;
import io.ebbfs.namespace.block.ClusterIdentity;
import io.ebbfs.namespace.block.ClusterMap;
import io.ebbfs.namespace.block.DatanodeFrontEnd;
import io.ebbfs.namespace.block.Topology;
import io.ebbfs.namespace.client.ClientFrontEnd;
import io.ebbfs.namespace.client.FileServices;
import io.ebbfs.namespace.client.KafkaOpenPublisher;
import io.ebbfs.namespace.coding.BlockCounts;
import io.ebbfs.namespace.coding.CodingService;
import io.ebbfs.namespace.inode.Caller;
import io.ebbfs.namespace.inode.Deletions;
import io.ebbfs.namespace.inode.FileAppends;
import io.ebbfs.namespace.inode.FileCreation;
import io.ebbfs.namespace.inode.FileReads;
import io.ebbfs.namespace.inode.FileSettings;
import io.ebbfs.namespace.inode.FileWrites;
import io.ebbfs.namespace.inode.LeaseRecovery;
import io.ebbfs.namespace.inode.Limits;
import io.ebbfs.namespace.inode.Namespace;
import io.ebbfs.namespace.inode.OpenListener;
import io.ebbfs.namespace.inode.Reaper;
import io.ebbfs.namespace.inode.Renames;
import io.ebbfs.namespace.inode.Replication;
import io.ebbfs.namespace.inode.Summaries;
import io.ebbfs.namespace.lease.LeaseMonitor;
import io.ebbfs.namespace.lease.Leases;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.RocksDbStore;
import io.ebbfs.namespace.stripe.StripeManager;
import io.ebbfs.namespace.transition.TransitionSettings;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.settings.codes.CodesFile;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.DataChecksum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The namenode: makes its parts, joins them, serves them on one port, and stops them in order. */
public final class NamenodeServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NamenodeServer.class);
  private static final String SUPERGROUP = "supergroup";

  private final List<AutoCloseable> parts = new ArrayList<>();
  private RpcEndpoint endpoint;

  private NamenodeServer() {}

  /**
   * Starts a namenode.
   *
   * @throws IOException with a message for the operator if the data cannot be opened or the port
   *     not be had
   */
  public static NamenodeServer start(NamenodeConfig config, Clock clock, RandomGenerator random)
      throws IOException {
    NamenodeServer server = new NamenodeServer();
    boolean started = false;
    try {
      server.build(config, clock, random);
      started = true;
      return server;
    } finally {
      if (!started) {
        server.close();
      }
    }
  }

  private void build(NamenodeConfig config, Clock clock, RandomGenerator random)
      throws IOException {
    defineCodes(config);
    MetadataStore store =
        stopsFirst(
            RocksDbStore.open(
                config.data().resolve("metadata"), config.lockTimeout(), config.storeCache()));
    ClusterIdentity identity = ClusterIdentity.of(store, clock, random);
    BlockSettings blockSettings = blockSettings(config);
    ClusterMap cluster =
        new ClusterMap(
            store,
            IdGenerator.storages(store),
            clock,
            blockSettings,
            config.topology().isBlank()
                ? Topology.none()
                : Topology.of(Path.of(config.topology())));
    BlockManager blocks =
        new BlockManager(store, cluster, identity.blockPoolId(), clock, random, blockSettings);
    StripeManager stripes = new StripeManager(blocks);
    blocks.bind(stripes);

    Caller.Superuser superuser =
        new Caller.Superuser(UserGroupInformation.getCurrentUser().getShortUserName(), SUPERGROUP);
    BlockCounts counts =
        new BlockCounts(blocks::underReplicatedBlocks, blocks::missingBlocks, blocks::blocksOn);
    IdGenerators ids = IdGenerators.of(store);
    CodingService coding =
        new CodingService(
            identity.blockPoolId(),
            store,
            ids,
            blocks,
            new BlockCounts(blocks::underReplicatedBlocks, blocks::missingBlocks, blocks::blocksOn),
            cluster,
            stripes,
            clock,
            random,
            TransitionSettings.defaults()
                .with(config.rewriteDeadShare(), config.verify(), config.mendPlacements()));
    Reaper reaper = stopsFirst(new Reaper(store, blocks, stripes));
    OpenListener opens = opens(config, coding);
    FileServices files = files(config, store, ids, blocks, clock, opens, reaper);
    files.namespace().initialize(superuser);
    reaper.start();
    every(1_000, "blocks", blocks::tick);
    every(1_000, "coding", coding::tick);
    every(5_000, "topology", cluster::refreshRacks);
    every(2_000, "leases", new LeaseMonitor(store, files.leases(), files.recovery())::tick);

    endpoint = new RpcEndpoint(config);
    endpoint.addClients(
        new ClientFrontEnd(files, blocks, counts, cluster, defaults(config), superuser));
    endpoint.addDatanodes(
        new DatanodeFrontEnd(
            identity,
            cluster,
            blocks,
            (block, stamp, length, close, delete, storages) ->
                files
                    .recovery()
                    .commitBlockSynchronization(
                        block.getBlockId(), stamp, length, close, delete, storages)));
    endpoint.addCoding(coding);
    stopsFirst(endpoint).start();
    LOG.info("Namenode of cluster {} serves at {}", identity.clusterId(), endpoint.address());
  }

  private static void defineCodes(NamenodeConfig config) throws IOException {
    if (!config.codes().isBlank()) {
      try {
        CodesFile.define(Path.of(config.codes()));
      } catch (ConfigException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  private static FileServices files(
      NamenodeConfig config,
      MetadataStore store,
      IdGenerators ids,
      BlockManager blocks,
      Clock clock,
      OpenListener opens,
      Reaper reaper) {
    Limits limits = Limits.DEFAULT.withMinBlockSize(config.minBlockSize());
    FileSettings settings =
        new FileSettings(config.completeWait(), FileSettings.DEFAULT.recoveryRetryMillis());
    Leases leases = new Leases(clock, config.leaseSoftLimit(), config.leaseHardLimit());
    LeaseRecovery recovery =
        new LeaseRecovery(store, blocks, leases, ids.generationStamps(), clock, settings);
    return new FileServices(
        new Namespace(store, ids.inodes(), clock, limits),
        new Renames(store, clock, limits, reaper::wake),
        new Deletions(store, clock, reaper::wake),
        new FileCreation(store, ids.inodes(), clock, limits, leases, recovery, reaper::wake),
        new FileAppends(store, blocks, clock, leases, recovery),
        new FileWrites(
            store, blocks, ids.blocks(), ids.generationStamps(), clock, limits, settings),
        new FileReads(store, blocks, clock, limits, opens),
        new Replication(store, blocks, limits),
        new Summaries(store),
        leases,
        recovery);
  }

  private OpenListener opens(NamenodeConfig config, CodingService coding) {
    return config.kafka().isBlank()
        ? (inodeId, path, timeMillis, client) -> coding.counters().add("opens", 1)
        : stopsFirst(new KafkaOpenPublisher(config.kafka(), coding.counters()::add));
  }

  private static BlockSettings blockSettings(NamenodeConfig config) {
    BlockSettings brisk = BlockSettings.brisk(config.deadAfter());
    return new BlockSettings(
        brisk.deadAfterMillis(),
        brisk.staleAfterMillis(),
        config.safeModeGrace(),
        brisk.transferTimeoutMillis(),
        brisk.transfersPerServer(),
        brisk.invalidationsPerHeartbeat(),
        brisk.reportTravelMillis(),
        brisk.scanIntervalMillis(),
        brisk.blocksPerTick(),
        brisk.queueLimit());
  }

  private static FsServerDefaults defaults(NamenodeConfig config) {
    return new FsServerDefaults(
        config.blockSize(),
        512,
        64 << 10,
        (short) config.replication(),
        4096,
        false,
        0,
        DataChecksum.Type.CRC32C,
        "");
  }

  /** Work that is done again and again. */
  @FunctionalInterface
  private interface Periodic {
    void run() throws IOException;
  }

  private void every(long millis, String name, Periodic work) {
    ScheduledExecutorService timer =
        Executors.newSingleThreadScheduledExecutor(
            runnable -> {
              Thread thread = new Thread(runnable, name);
              thread.setDaemon(true);
              return thread;
            });
    timer.scheduleWithFixedDelay(
        () -> runQuietly(name, work), millis, millis, TimeUnit.MILLISECONDS);
    stopsFirst(
        () -> {
          timer.shutdownNow();
          timer.awaitTermination(10, TimeUnit.SECONDS);
        });
  }

  private static void runQuietly(String name, Periodic work) {
    try {
      work.run();
    } catch (IOException | RuntimeException e) {
      LOG.warn("The periodic work of '{}' failed; it is tried again soon", name, e);
    }
  }

  /** Notes a part that stops before all that were noted earlier. */
  private <T extends AutoCloseable> T stopsFirst(T part) {
    parts.add(part);
    return part;
  }

  /** Where clients and chunk servers reach it. */
  public InetSocketAddress address() {
    return endpoint.address();
  }

  /** Stops serving, then everything behind it; the store last. */
  @Override
  public void close() {
    Collections.reverse(parts);
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (Exception e) {
        LOG.warn("A part of the namenode did not stop cleanly", e);
      }
    }
    parts.clear();
  }
}
