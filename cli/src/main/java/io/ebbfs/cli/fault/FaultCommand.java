package io.ebbfs.cli.fault;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Faults of a local cluster. Each method is a command that breaks one thing. */
@Command(
    name = "fault",
    description = {
      "Breaks a part of the local cluster and says in one line which.",
      "A fault without a target chooses one at random."
    },
    subcommands = {TimetableCommand.class, PointsCommand.class, ArmCommand.class})
public final class FaultCommand {
  private static final String REPLICA = "Path of a file, or id of a block.";
  private static final String SERVER = "Number of the server.";
  private static final String RACK = "Number of the rack.";

  @Mixin private HelpOption help;

  @Command(
      name = "delete-block",
      description = "Deletes a replica: its data file and its checksum file.")
  int deleteBlock(
      @Mixin FaultTarget target,
      @Parameters(arity = "0..1", paramLabel = "PATH|BLOCKID", description = REPLICA)
          String replica)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(
        injector ->
            switch (Which.of(replica)) {
              case ANY -> injector.deleteBlock();
              case BLOCK -> injector.deleteBlock(Long.parseLong(replica));
              case FILE -> injector.deleteBlock(replica);
            });
  }

  @Command(name = "corrupt-block", description = "Flips some bytes of a replica.")
  int corruptBlock(
      @Mixin FaultTarget target,
      @Parameters(arity = "0..1", paramLabel = "PATH|BLOCKID", description = REPLICA)
          String replica)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(
        injector ->
            switch (Which.of(replica)) {
              case ANY -> injector.corruptBlock();
              case BLOCK -> injector.corruptBlock(Long.parseLong(replica));
              case FILE -> injector.corruptBlock(replica);
            });
  }

  @Command(
      name = "forge-block",
      description = "Gives a replica other bytes, and checksums that fit these bytes.")
  int forgeBlock(
      @Mixin FaultTarget target,
      @Parameters(arity = "0..1", paramLabel = "PATH|BLOCKID", description = REPLICA)
          String replica)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(
        injector ->
            switch (Which.of(replica)) {
              case ANY -> injector.forgeBlock();
              case BLOCK -> injector.forgeBlock(Long.parseLong(replica));
              case FILE -> injector.forgeBlock(replica);
            });
  }

  @Command(
      name = "fail-disk",
      description = "Deletes all blocks of a disk and starts its server again.")
  int failDisk(
      @Mixin FaultTarget target,
      @Parameters(index = "0", arity = "0..1", paramLabel = "SERVER", description = SERVER)
          Integer server,
      @Parameters(
              index = "1",
              arity = "0..1",
              paramLabel = "DISK",
              description = "Number of the disk.")
          Integer disk)
      throws IOException, ClusterException, InterruptedException {
    if (server != null && disk == null) {
      throw new ClusterException(
          "fail-disk %d: the disk is missing; name a server and a disk, or neither"
              .formatted(server));
    }
    return target.inject(
        injector -> server == null ? injector.failDisk() : injector.failDisk(server, disk));
  }

  @Command(name = "kill-server", description = "Kills a chunk server by SIGKILL.")
  int killServer(
      @Mixin FaultTarget target,
      @Parameters(arity = "0..1", paramLabel = "N", description = SERVER) Integer server)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(
        injector -> server == null ? injector.killServer() : injector.killServer(server));
  }

  @Command(name = "revive-server", description = "Starts a killed chunk server again.")
  int reviveServer(
      @Mixin FaultTarget target,
      @Parameters(arity = "0..1", paramLabel = "N", description = SERVER) Integer server)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(
        injector -> server == null ? injector.reviveServer() : injector.reviveServer(server));
  }

  @Command(name = "flap", description = "Kills a chunk server and starts it again, many times.")
  int flap(
      @Mixin FaultTarget target,
      @Parameters(index = "0", paramLabel = "N", description = SERVER) int server,
      @Parameters(
              index = "1",
              arity = "0..1",
              paramLabel = "TIMES",
              defaultValue = "3",
              description = "How often (default: 3).")
          int times,
      @Parameters(
              index = "2",
              arity = "0..1",
              paramLabel = "PERIOD",
              defaultValue = "10s",
              converter = Millis.class,
              description = "Time from one kill to the next, as 500ms, 10s or 1m (default: 10s).")
          long periodMillis)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(injector -> injector.flap(server, times, periodMillis));
  }

  @Command(name = "kill-rack", description = "Kills all servers of a rack by SIGKILL.")
  int killRack(
      @Mixin FaultTarget target,
      @Parameters(arity = "0..1", paramLabel = "R", description = RACK) Integer rack)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(injector -> injector.killRack(rack == null ? injector.anyRack() : rack));
  }

  @Command(name = "revive-rack", description = "Starts the killed servers of a rack again.")
  int reviveRack(
      @Mixin FaultTarget target, @Parameters(paramLabel = "R", description = RACK) int rack)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(injector -> injector.reviveRack(rack));
  }

  @Command(name = "slow-link", description = "Gives the link of a server another rate (lab only).")
  int slowLink(
      @Mixin FaultTarget target,
      @Parameters(index = "0", paramLabel = "N", description = SERVER) int server,
      @Parameters(index = "1", paramLabel = "RATE", description = "The new rate, as 10mbit.")
          String rate)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(injector -> injector.slowLink(server, rate));
  }

  @Command(
      name = "restore-link",
      description = "Gives the link of a server the rate of the lab again.")
  int restoreLink(
      @Mixin FaultTarget target, @Parameters(paramLabel = "N", description = SERVER) int server)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(injector -> injector.restoreLink(server));
  }

  @Command(name = "kill-all", description = "Kills every process of the cluster by SIGKILL.")
  int killAll(@Mixin FaultTarget target)
      throws IOException, ClusterException, InterruptedException {
    return target.inject(injector -> injector.killAll());
  }

  private enum Which {
    ANY,
    BLOCK,
    FILE;

    static Which of(String replica) {
      if (replica == null) {
        return ANY;
      }
      return replica.matches("\\d+") ? BLOCK : FILE;
    }
  }
}
