package io.ebbfs.ignite;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import org.apache.ignite.cache.CacheAtomicityMode;
import org.apache.ignite.cache.CacheKeyConfiguration;
import org.apache.ignite.cache.CacheMode;
import org.apache.ignite.cache.CacheWriteSynchronizationMode;
import org.apache.ignite.cache.PartitionLossPolicy;
import org.apache.ignite.cache.QueryEntity;
import org.apache.ignite.cache.QueryIndex;
import org.apache.ignite.cache.QueryIndexType;
import org.apache.ignite.cache.affinity.rendezvous.RendezvousAffinityFunction;
import org.apache.ignite.configuration.CacheConfiguration;
import org.apache.ignite.configuration.DataStorageConfiguration;
import org.apache.ignite.configuration.ExecutorConfiguration;
import org.apache.ignite.configuration.IgniteConfiguration;
import org.apache.ignite.configuration.WALMode;
import org.apache.ignite.spi.communication.tcp.TcpCommunicationSpi;
import org.apache.ignite.spi.discovery.tcp.TcpDiscoverySpi;
import org.apache.ignite.spi.discovery.tcp.ipfinder.vm.TcpDiscoveryVmIpFinder;

/** What the store sets in Ignite, and why. */
final class IgniteSettings {
  /** The one cache that holds all tables, so that one call reads and locks rows of many. */
  static final String CACHE = "metadata";

  static final String INDEX = "order";

  /** Threads that read and take the rows of a backup, so that scans do not wait for them. */
  static final String BACKUP_THREADS = "backup";

  /**
   * Threads that tell which commits have begun, so that a client that asks for a missing file does
   * not wait for scans. A node of an older version lacks them and has the question wait with its
   * scans.
   */
  static final String COMMIT_THREADS = "commits";

  /** Most keys fit into the index with this many bytes. */
  private static final int INDEX_INLINE_BYTES = 64;

  /** A size that the system chooses. */
  private static final int SYSTEM_DEFAULT = 0;

  /**
   * Threads that read and write connections. A thread on which a connection is reset, because its
   * peer was killed, sleeps for a second, and with it all other connections of the thread. So there
   * are many more threads than connections; those without one cost nothing.
   */
  private static final int CONNECTION_THREADS = 32;

  /** Many clients may run on one machine. */
  private static final int CLIENT_PORTS = 1_000;

  static {
    System.setProperty("IGNITE_QUIET", "false"); // its log goes to ours, not to the console
    System.setProperty("IGNITE_NO_ASCII", "true");
    System.setProperty("IGNITE_UPDATE_NOTIFIER", "false");
    System.setProperty("IGNITE_PERFORMANCE_SUGGESTIONS_DISABLED", "true");
    System.setProperty("IGNITE_NO_SHUTDOWN_HOOK", "true"); // StoreNode stops its node
  }

  private IgniteSettings() {}

  /** A node that holds rows. */
  static IgniteConfiguration server(StoreMember member, StoreNodeConfig node) {
    IgniteConfiguration server = common(member.name(), member.all(), node.failureDetection());
    server.setConsistentId(member.name());
    server.setWorkDirectory(node.data().toAbsolutePath().toString());
    server.setLocalHost(member.host());
    discovery(server).setLocalPort(member.port()).setLocalPortRange(0);
    communication(server)
        .setLocalPort(node.transferPort() == 0 ? member.port() + 1 : node.transferPort())
        .setLocalPortRange(0);
    server.setDataStorageConfiguration(storage(node));
    server.setCacheConfiguration(cache(node));
    threads(server, node.threads());
    return server;
  }

  /** A node that holds no rows: a namenode, each time it joins. */
  static IgniteConfiguration client(StoreClientConfig namenode, int join) {
    IgniteConfiguration client =
        common(namenode.name() + "-" + join, namenode.peers(), namenode.failureDetectionMillis());
    client.setClientMode(true);
    client.setWorkDirectory(namenode.scratch().toAbsolutePath().toString());
    client.setLocalHost(namenode.host());
    communication(client).setLocalPortRange(CLIENT_PORTS);
    discovery(client).setJoinTimeout(namenode.joinMillis());
    threads(client, namenode.threads());
    return client;
  }

  private static IgniteConfiguration common(
      String name, List<String> peers, long failureDetectionMillis) {
    return new IgniteConfiguration()
        .setIgniteInstanceName(name)
        .setGridLogger(new IgniteLog())
        .setPluginProviders(new SortedIndexPlugin())
        .setFailureHandler(new StopOnFailure())
        .setFailureDetectionTimeout(failureDetectionMillis)
        .setClientFailureDetectionTimeout(failureDetectionMillis)
        .setMetricsUpdateFrequency(failureDetectionMillis / 4)
        .setMetricsLogFrequency(0)
        .setExecutorConfiguration(
            new ExecutorConfiguration(BACKUP_THREADS).setSize(1),
            new ExecutorConfiguration(COMMIT_THREADS).setSize(1))
        .setConnectorConfiguration(null)
        .setClientConnectorConfiguration(null)
        .setDiscoverySpi(
            new TcpDiscoverySpi().setIpFinder(new TcpDiscoveryVmIpFinder().setAddresses(peers)))
        .setCommunicationSpi(
            // With Ignite's 32 KiB, a connection stood still for seconds under large messages: the
            // window of the receiver is smaller than a packet of the loopback device.
            new TcpCommunicationSpi()
                .setSelectorsCount(CONNECTION_THREADS)
                .setSocketSendBuffer(SYSTEM_DEFAULT)
                .setSocketReceiveBuffer(SYSTEM_DEFAULT));
  }

  private static TcpDiscoverySpi discovery(IgniteConfiguration node) {
    return (TcpDiscoverySpi) node.getDiscoverySpi();
  }

  private static TcpCommunicationSpi communication(IgniteConfiguration node) {
    return (TcpCommunicationSpi) node.getCommunicationSpi();
  }

  private static void threads(IgniteConfiguration node, int threads) {
    node.setStripedPoolSize(threads)
        .setSystemThreadPoolSize(threads)
        .setQueryThreadPoolSize(threads)
        .setPublicThreadPoolSize(2)
        .setManagementThreadPoolSize(1)
        .setDataStreamerThreadPoolSize(1)
        .setRebalanceThreadPoolSize(1)
        .setBuildIndexThreadPoolSize(1)
        .setSnapshotThreadPoolSize(1);
  }

  /**
   * The log is handed to the operating system at each commit and synced now and then: a commit is
   * in the memory of each machine with a copy, and survives the death of all processes.
   */
  private static DataStorageConfiguration storage(StoreNodeConfig node) {
    DataStorageConfiguration storage =
        new DataStorageConfiguration()
            .setWalMode(node.syncEachCommit() ? WALMode.FSYNC : WALMode.LOG_ONLY)
            .setWalSegmentSize(16 << 20)
            .setMaxWalArchiveSize(node.log())
            .setWalPath("wal")
            .setWalArchivePath("wal"); // segments are not copied
    storage
        .getDefaultDataRegionConfiguration()
        .setPersistenceEnabled(true)
        .setInitialSize(Math.min(node.memory(), 64L << 20))
        .setMaxSize(node.memory());
    return storage;
  }

  private static CacheConfiguration<RowId, byte[]> cache(StoreNodeConfig node) {
    return new CacheConfiguration<RowId, byte[]>(CACHE)
        .setAtomicityMode(CacheAtomicityMode.TRANSACTIONAL)
        .setCacheMode(CacheMode.PARTITIONED)
        .setBackups(node.copies() - 1) // those besides the primary
        .setWriteSynchronizationMode(CacheWriteSynchronizationMode.FULL_SYNC)
        .setReadFromBackup(false) // a backup may show a row earlier or later than the primary does
        .setPartitionLossPolicy(PartitionLossPolicy.READ_WRITE_SAFE)
        .setTopologyValidator(new MajorityOfBaseline())
        .setAffinity(new RendezvousAffinityFunction(false, node.partitions()))
        .setKeyConfiguration(
            new CacheKeyConfiguration(RowId.class.getName(), RowId.PARTITION_FIELD))
        .setQueryEntities(List.of(rows()))
        .setCopyOnRead(false);
  }

  private static QueryEntity rows() {
    LinkedHashMap<String, String> fields = new LinkedHashMap<>();
    fields.put(RowId.PARTITION_FIELD, Long.class.getName());
    fields.put(RowId.ORDER_FIELD, byte[].class.getName());
    QueryIndex index = new QueryIndex(RowId.ORDER_FIELD, QueryIndexType.SORTED);
    index.setName(INDEX).setInlineSize(INDEX_INLINE_BYTES);
    return new QueryEntity(RowId.class.getName(), byte[].class.getName())
        .setFields(fields)
        .setKeyFields(Set.copyOf(fields.keySet()))
        .setIndexes(List.of(index));
  }
}
