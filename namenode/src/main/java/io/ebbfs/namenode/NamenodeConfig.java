package io.ebbfs.namenode;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import io.ebbfs.namenode.datanodes.ByteRate;
import io.ebbfs.namenode.datanodes.RebalanceSettings;
import io.ebbfs.namenode.files.trash.TrashSettings;
import io.ebbfs.namenode.files.xattrs.XAttrLimits;
import io.ebbfs.namenode.tasks.lifecycle.BackgroundLimits;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The configuration of a namenode: the file {@code conf/namenode.yaml}, with the options of the
 * command line over it. Times are in milliseconds, sizes in bytes.
 *
 * @param data the directory of the metadata store
 * @param host the address to listen at
 * @param port the port to listen at; 0 for any free port
 * @param kafka host:port of the brokers for events about opened files; empty for none
 * @param readyFile a file for the port, written once the namenode serves; or null
 * @param handlers threads that answer calls
 * @param blockSize the block size for clients that ask for the default
 * @param minBlockSize the smallest block size that is accepted
 * @param replication the replication for clients that ask for the default
 * @param deadAfter a chunk server without a heartbeat for this long is dead
 * @param safeModeGrace safe mode lasts at least this long after the first chunk server registers,
 *     unless every known disk has reported before
 * @param leaseSoftLimit another client may take over a file whose writer is silent for this long
 * @param leaseHardLimit the file of a writer that is silent for this long is closed
 * @param completeWait how long the close of a file waits for the first report of its last block
 * @param lockTimeout how long an operation waits for another operation on the same file
 * @param mendPlacements whether blocks of misplaced stripes are copied to better disks
 * @param topology the file with the racks of the servers; empty for none
 * @param topologyScript a program that prints racks, for servers that topology does not name; empty
 *     for none. Without both, all servers are in one rack
 * @param excludeFile the file with the names of servers to drain; empty for none
 * @param storeCache memory of the metadata store, of which cached rows take half
 * @param verify the checks of the blocks that a transition writes, before its commit
 * @param rewriteDeadShare the share of deleted data from which a stripe is rewritten; a value over
 *     1 switches rewriting off
 * @param codes a file that defines codes; empty for none
 * @param orphanWait a replica of a block that the metadata does not know is kept for this long
 * @param backups the directory of the backups of the metadata; empty: {@code backups} in data
 * @param backupEvery the time between two backups; 0 for none but those that are asked for
 * @param backupsKept the number of backups that are kept
 * @param safeModeThreshold the share of the blocks that must be readable before safe mode ends
 * @param reportsAtOnce servers whose full block reports are accepted at the same time
 * @param servicePort a port for chunk servers with a call queue of its own; 0 for none
 * @param serviceHandlers threads that answer calls at the service port
 * @param serviceKey the file with the key of the cluster's services; empty for none
 * @param repairDelay repairs and re-replication wait this long for a lost server or disk
 * @param limits what transitions may take of the chunk servers
 * @param copyRate bytes per second of re-replication
 * @param httpPort a port for probes and metrics; 0 for none
 * @param auditLog a file with a line for each call of a client; empty for none
 * @param storeNodes host:port of nodes of a store that namenodes share; empty: an embedded store
 * @param xattrsPerInode the most extended attributes of a file or directory
 * @param xattrSize the longest name and value of an extended attribute, together
 * @param proxyUsers users who may act as others, as HttpFS does for the users of WebHDFS
 * @param leaderTimeout a namenode takes over from one that has been silent for this long
 * @param rebalance how the disks are levelled until an operator orders something else
 * @param hostsFile the file with the states of chunk servers, in JSON; empty for none
 * @param includeFile the file with the names of the only servers that may register; empty for none
 * @param trash how long the trash keeps what users have removed
 */
public record NamenodeConfig(
    Path data,
    String host,
    int port,
    String kafka,
    Path readyFile,
    int handlers,
    long blockSize,
    long minBlockSize,
    int replication,
    long deadAfter,
    long safeModeGrace,
    long leaseSoftLimit,
    long leaseHardLimit,
    long completeWait,
    long lockTimeout,
    boolean mendPlacements,
    String topology,
    String topologyScript,
    String excludeFile,
    long storeCache,
    Verification verify,
    double rewriteDeadShare,
    String codes,
    long orphanWait,
    String backups,
    long backupEvery,
    int backupsKept,
    double safeModeThreshold,
    int reportsAtOnce,
    int servicePort,
    int serviceHandlers,
    String serviceKey,
    long repairDelay,
    BackgroundLimits limits,
    ByteRate copyRate,
    int httpPort,
    String auditLog,
    List<String> storeNodes,
    int xattrsPerInode,
    long xattrSize,
    List<String> proxyUsers,
    long leaderTimeout,
    RebalanceSettings rebalance,
    String hostsFile,
    String includeFile,
    TrashSettings trash) {

  public static NamenodeConfig defaults() {
    return new NamenodeConfig(
        Path.of("namenode-data"),
        "127.0.0.1",
        8020,
        "",
        null,
        32,
        128L << 20,
        64L << 10,
        3,
        600_000,
        30_000,
        60_000,
        1_200_000,
        1_000,
        10_000,
        true,
        "",
        "",
        "",
        256L << 20,
        TransitionSettings.defaults().verification(),
        TransitionSettings.defaults().rewriteDeadShare(),
        "",
        21_600_000,
        "",
        86_400_000,
        7,
        0.999,
        6,
        0,
        16,
        "",
        60_000,
        new BackgroundLimits(
            6, 24, new ByteRate(200L << 20, 10L << 30), new ByteRate(100L << 20, 2L << 30)),
        new ByteRate(200L << 20, 10L << 30),
        0,
        "",
        List.of(),
        XAttrLimits.DEFAULT.perInode(),
        XAttrLimits.DEFAULT.sizeBytes(),
        List.of(),
        2_000,
        RebalanceSettings.DEFAULTS,
        "",
        "",
        TrashSettings.OFF);
  }

  /**
   * One key over the configuration file.
   *
   * @param argument the words of the command line; messages name them
   */
  public record Override(String argument, String key, String value) {
    private String yaml() {
      // Inside single quotes only the single quote itself has to be escaped.
      return key + ": '" + value.replace("'", "''") + "'";
    }
  }

  /**
   * The values of a file and of the command line over it. A later override wins.
   *
   * @throws ConfigException with all problems of the file, or with the first wrong override
   */
  public static NamenodeConfig of(
      Optional<Path> file, List<Override> overrides, Optional<Path> readyFile)
      throws ConfigException {
    NamenodeConfig config = defaults();
    if (file.isPresent()) {
      config = parse(file.get(), YamlFile.text(file.get()), config);
    }
    for (Override override : overrides) {
      config = parse(Path.of(override.argument()), override.yaml(), config);
    }
    return readyFile.map(config::withReadyFile).orElse(config);
  }

  static NamenodeConfig parse(Path name, String text, NamenodeConfig otherwise)
      throws ConfigException {
    return YamlFile.parse(name, text, top -> read(top, otherwise));
  }

  private static NamenodeConfig read(Section top, NamenodeConfig otherwise) {
    NamenodeConfig config =
        new NamenodeConfig(
            top.text("data").map(Path::of).orElse(otherwise.data),
            top.text("host").orElse(otherwise.host),
            top.integer("port", otherwise.port, 0, 65_535),
            top.text("kafka").orElse(otherwise.kafka),
            otherwise.readyFile,
            top.integer("handlers", otherwise.handlers, 1, 1_000),
            top.sizeBytes("blockSize", otherwise.blockSize),
            top.sizeBytes("minBlockSize", otherwise.minBlockSize),
            top.integer("replication", otherwise.replication, 1, 512),
            top.durationMillis("deadAfter", otherwise.deadAfter),
            top.durationMillis("safeModeGrace", otherwise.safeModeGrace),
            top.durationMillis("leaseSoftLimit", otherwise.leaseSoftLimit),
            top.durationMillis("leaseHardLimit", otherwise.leaseHardLimit),
            top.durationMillis("completeWait", otherwise.completeWait),
            top.durationMillis("lockTimeout", otherwise.lockTimeout),
            top.flag("mendPlacements", otherwise.mendPlacements),
            top.text("topology").orElse(otherwise.topology),
            top.text("topologyScript").orElse(otherwise.topologyScript),
            top.text("excludeFile").orElse(otherwise.excludeFile),
            top.sizeBytes("storeCache", otherwise.storeCache),
            verify(top, otherwise.verify),
            top.number("rewriteDeadShare", 0.05, 2).orElse(otherwise.rewriteDeadShare),
            top.text("codes").orElse(otherwise.codes),
            top.durationMillis("orphanWait", otherwise.orphanWait),
            top.text("backups").orElse(otherwise.backups),
            top.durationMillis("backupEvery", otherwise.backupEvery),
            top.integer("backupsKept", otherwise.backupsKept, 1, 10_000),
            top.number("safeModeThreshold", 0, 1).orElse(otherwise.safeModeThreshold),
            top.integer("reportsAtOnce", otherwise.reportsAtOnce, 1, 10_000),
            top.integer("servicePort", otherwise.servicePort, 0, 65_535),
            top.integer("serviceHandlers", otherwise.serviceHandlers, 1, 1_000),
            top.text(ServiceKey.SETTING).orElse(otherwise.serviceKey),
            top.durationMillis("repairDelay", otherwise.repairDelay),
            limits(top, otherwise.limits),
            rate(top, "copy", otherwise.copyRate),
            top.integer("httpPort", otherwise.httpPort, 0, 65_535),
            top.text("auditLog").orElse(otherwise.auditLog),
            top.text("storeNodes").map(NamenodeConfig::list).orElse(otherwise.storeNodes),
            top.integer("xattrsPerInode", otherwise.xattrsPerInode, 0, XAttrLimits.MOST_PER_INODE),
            top.sizeBytes("xattrSize", otherwise.xattrSize),
            top.text("proxyUsers").map(NamenodeConfig::list).orElse(otherwise.proxyUsers),
            top.durationMillis("leaderTimeout", otherwise.leaderTimeout),
            rebalance(top, otherwise.rebalance),
            top.text("hostsFile").orElse(otherwise.hostsFile),
            top.text("includeFile").orElse(otherwise.includeFile),
            trash(top, otherwise.trash));
    config.check(top);
    return config;
  }

  private static List<String> list(String text) {
    return Arrays.stream(text.split(",")).map(String::strip).filter(s -> !s.isEmpty()).toList();
  }

  private static BackgroundLimits limits(Section top, BackgroundLimits otherwise) {
    return new BackgroundLimits(
        top.integer("combinesPerServer", otherwise.combinesPerServer(), 0, 10_000),
        top.integer("readsPerServer", otherwise.readsPerServer(), 0, 10_000),
        rate(top, "repair", otherwise.repair()),
        rate(top, "conversion", otherwise.conversion()));
  }

  private static RebalanceSettings rebalance(Section top, RebalanceSettings otherwise) {
    return new RebalanceSettings(
        top.flag("rebalance", otherwise.on()),
        top.number("rebalanceThreshold", 0.0001, 0.99).orElse(otherwise.threshold()),
        Math.max(1, top.sizeBytes("rebalanceBytesPerSecond", otherwise.bytesPerSecond())),
        top.integer("rebalanceMoves", otherwise.moves(), 1, 10_000));
  }

  private static TrashSettings trash(Section top, TrashSettings otherwise) {
    return new TrashSettings(
        top.durationMillis("trashInterval", otherwise.intervalMillis()),
        top.durationMillis("trashCheckpointInterval", otherwise.checkpointMillis()));
  }

  /** The limits of one kind of background work. */
  private static ByteRate rate(Section top, String work, ByteRate otherwise) {
    return new ByteRate(
        top.sizeBytes(work + "BytesPerServer", otherwise.perServer()),
        top.sizeBytes(work + "BytesPerCluster", otherwise.cluster()));
  }

  private static Verification verify(Section top, Verification otherwise) {
    Optional<String> text = top.text("verify");
    for (Verification verification : Verification.values()) {
      if (text.equals(Optional.of(verification.name().toLowerCase(Locale.ROOT)))) {
        return verification;
      }
    }
    text.ifPresent(
        unknown ->
            top.problem(
                "verify", "'verify: " + unknown + "' is unknown", "choose on, checksums or off"));
    return otherwise;
  }

  private void check(Section top) {
    if (minBlockSize < 512) {
      top.problem(
          "minBlockSize",
          "'minBlockSize: " + minBlockSize + "' is too small",
          "write 512B or more");
    }
    if (blockSize < minBlockSize || blockSize % 512 != 0) {
      top.problem(
          "blockSize",
          "'blockSize: %d' is below minBlockSize %d or no multiple of 512"
              .formatted(blockSize, minBlockSize),
          "write a larger size, such as 128MiB");
    }
    if (leaseHardLimit < leaseSoftLimit) {
      top.problem(
          "leaseHardLimit",
          "leaseHardLimit (%d ms) is shorter than leaseSoftLimit (%d ms)"
              .formatted(leaseHardLimit, leaseSoftLimit),
          "make it at least as long");
    }
    if (deadAfter < 1_000) {
      top.problem(
          "deadAfter",
          "'deadAfter: " + deadAfter + "ms' is shorter than a heartbeat",
          "write 3s or more");
    }
    if (servicePort != 0 && serviceHandlers <= reportsAtOnce) {
      top.problem(
          "serviceHandlers",
          "serviceHandlers (%d) is not above reportsAtOnce (%d): heartbeats would wait for reports"
              .formatted(serviceHandlers, reportsAtOnce),
          "write a larger number of handlers");
    }
    if (storeCache < 8L << 20) {
      top.problem(
          "storeCache", "'storeCache: " + storeCache + "' is too small", "write 8MiB or more");
    }
    if (xattrSize > XAttrLimits.LARGEST_SIZE_BYTES) {
      top.problem(
          "xattrSize", "'xattrSize: " + xattrSize + "' is too large", "write 32KiB or less");
    }
    if (!hostsFile.isBlank() && !(excludeFile.isBlank() && includeFile.isBlank())) {
      top.problem(
          "hostsFile",
          "'hostsFile: " + hostsFile + "' stands beside excludeFile or includeFile",
          "write the states of all servers into hostsFile, and take the other keys out");
    }
    if (leaderTimeout < 500) {
      top.problem(
          "leaderTimeout",
          "'leaderTimeout: " + leaderTimeout + "ms' is too short: a pause of the JVM would end it",
          "write 500ms or more");
    }
    checkTrash(top);
    if (host.isBlank()) {
      top.problem("host", "'host' is empty", "write an address, such as 127.0.0.1");
    }
  }

  private void checkTrash(Section top) {
    if (!trash.isWholeMinutes()) {
      top.problem(
          "trashInterval",
          "'trashInterval: %dms' is no whole number of minutes, and clients are told minutes"
              .formatted(trash.intervalMillis()),
          "write minutes, hours or days, such as 6h");
    }
    if (trash.isOn() && trash.checkpointMillis() > trash.intervalMillis()) {
      top.problem(
          "trashCheckpointInterval",
          "trashCheckpointInterval (%d ms) is longer than trashInterval (%d ms)"
              .formatted(trash.checkpointMillis(), trash.intervalMillis()),
          "make it at most as long, or 0 for the same");
    }
  }

  /** The directory of the backups. */
  public Path backupDirectory() {
    return backups.isBlank() ? data.resolve("backups") : Path.of(backups);
  }

  private NamenodeConfig withReadyFile(Path file) {
    return with(port, file);
  }

  /** The same with another port. */
  NamenodeConfig withPort(int number) {
    return with(number, readyFile);
  }

  private NamenodeConfig with(int newPort, Path newReadyFile) {
    return new NamenodeConfig(
        data,
        host,
        newPort,
        kafka,
        newReadyFile,
        handlers,
        blockSize,
        minBlockSize,
        replication,
        deadAfter,
        safeModeGrace,
        leaseSoftLimit,
        leaseHardLimit,
        completeWait,
        lockTimeout,
        mendPlacements,
        topology,
        topologyScript,
        excludeFile,
        storeCache,
        verify,
        rewriteDeadShare,
        codes,
        orphanWait,
        backups,
        backupEvery,
        backupsKept,
        safeModeThreshold,
        reportsAtOnce,
        servicePort,
        serviceHandlers,
        serviceKey,
        repairDelay,
        limits,
        copyRate,
        httpPort,
        auditLog,
        storeNodes,
        xattrsPerInode,
        xattrSize,
        proxyUsers,
        leaderTimeout,
        rebalance,
        hostsFile,
        includeFile,
        trash);
  }
}
