package io.ebbfs.namespace;

import io.ebbfs.namespace.transition.TransitionSettings;
import io.ebbfs.namespace.transition.TransitionSettings.Verification;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.settings.Problem;
import io.ebbfs.settings.Section;
import io.ebbfs.settings.YamlFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What the namenode is told: the file {@code conf/namenode.yaml}, and the command line over it.
 * Times are in milliseconds, sizes in bytes.
 *
 * @param data where the metadata is kept
 * @param host the address to listen at
 * @param port the port to listen at; 0 for any free one
 * @param kafka host:port of brokers that get events about opened files; empty for none
 * @param readyFile gets the port once calls are answered, or null
 * @param handlers threads that answer calls
 * @param blockSize for clients that do not say
 * @param minBlockSize smaller ones are refused
 * @param replication for clients that do not say
 * @param deadAfter without a heartbeat for this long, a chunk server counts as dead
 * @param safeModeGrace after a start, no loss is concluded for this long
 * @param leaseSoftLimit a silent writer may be replaced after it
 * @param leaseHardLimit a silent writer's file is closed after it
 * @param completeWait how long closing a file waits for the first report of its last block
 * @param lockTimeout how long an operation waits for another on the same file
 * @param mendPlacements whether blocks of misplaced stripes are copied to better disks
 * @param topology file that says which rack each server is in; empty: all are in one
 * @param storeCache memory for cached rows, and as much again for rows not yet in files
 * @param verify what is checked of the blocks that a transition writes before they are published
 * @param rewriteDeadShare share of deleted data from which a stripe is written anew; over 1 is
 *     never
 * @param codes a file that defines codes; empty for none
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
    long storeCache,
    Verification verify,
    double rewriteDeadShare,
    String codes) {

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
        10_000,
        20_000,
        60_000,
        1_200_000,
        1_000,
        10_000,
        true,
        "",
        64L << 20,
        TransitionSettings.defaults().verification(),
        TransitionSettings.defaults().rewriteDeadShare(),
        "");
  }

  /**
   * Reads the command line and the file that it names.
   *
   * @throws ConfigException with everything that is wrong with the file, or the first wrong
   *     argument
   */
  public static NamenodeConfig of(List<String> arguments) throws ConfigException {
    Arguments given = Arguments.parse(arguments);
    NamenodeConfig config = defaults();
    Optional<Path> file = given.confFile();
    if (file.isPresent()) {
      config = parse(file.get(), YamlFile.text(file.get()), config);
    }
    for (Arguments.Override override : given.overrides()) {
      config = parse(Path.of(override.argument()), override.yaml(), config);
    }
    return given.readyFile().map(config::withReadyFile).orElse(config);
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
            top.sizeBytes("storeCache", otherwise.storeCache),
            verify(top, otherwise.verify),
            top.number("rewriteDeadShare", 0.05, 2).orElse(otherwise.rewriteDeadShare),
            top.text("codes").orElse(otherwise.codes));
    config.check(top);
    return config;
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
    if (storeCache < 8L << 20) {
      top.problem(
          "storeCache", "'storeCache: " + storeCache + "' is too small", "write 8MiB or more");
    }
    if (host.isBlank()) {
      top.problem("host", "'host' is empty", "write an address, such as 127.0.0.1");
    }
  }

  private NamenodeConfig withReadyFile(Path file) {
    return new NamenodeConfig(
        data,
        host,
        port,
        kafka,
        file,
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
        storeCache,
        verify,
        rewriteDeadShare,
        codes);
  }

  /** The command line as it was typed. */
  private record Arguments(
      Optional<Path> confFile, List<Override> overrides, Optional<Path> readyFile) {
    private static final String USAGE =
        "usage: NamenodeMain [--conf FILE] [--data DIR] [--host ADDRESS] [--port N]"
            + " [--kafka HOST:PORT] [--codes FILE] [--ready-file FILE] [--set KEY=VALUE]...";

    /** One key over the file, as a line of it. */
    private record Override(String argument, String yaml) {}

    static Arguments parse(List<String> arguments) throws ConfigException {
      Optional<Path> conf = Optional.empty();
      Optional<Path> ready = Optional.empty();
      List<Override> overrides = new ArrayList<>();
      for (int i = 0; i < arguments.size(); i += 2) {
        String option = arguments.get(i);
        if (i + 1 == arguments.size()) {
          throw wrong(option, "has no value");
        }
        String value = arguments.get(i + 1);
        switch (option) {
          case "--conf" -> conf = Optional.of(Path.of(value));
          case "--ready-file" -> ready = Optional.of(Path.of(value));
          case "--data", "--host", "--port", "--kafka", "--codes" ->
              overrides.add(override(option, option.substring(2), value));
          case "--set" -> {
            int equals = value.indexOf('=');
            if (equals <= 0) {
              throw wrong(option + " " + value, "is not KEY=VALUE");
            }
            overrides.add(
                override(
                    option + " " + value, value.substring(0, equals), value.substring(equals + 1)));
          }
          default -> throw wrong(option, "is unknown");
        }
      }
      return new Arguments(conf, overrides, ready);
    }

    private static Override override(String argument, String key, String value) {
      // Single quotes take everything but themselves as it stands.
      return new Override(argument, key + ": '" + value.replace("'", "''") + "'");
    }

    private static ConfigException wrong(String argument, String what) {
      return new ConfigException(List.of(new Problem("argument " + argument, 0, what, USAGE)));
    }
  }
}
