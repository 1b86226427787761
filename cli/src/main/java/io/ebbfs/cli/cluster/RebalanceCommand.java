package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.Json;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Units;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceOrderProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Levels the fullness of the disks in the background. */
@Command(
    name = "rebalance",
    description = "Levels the fullness of the disks in the background, until --stop.",
    footer = {
      "",
      "Replicas move from the fullest disks to the emptiest ones, and no block becomes less safe.",
      "The order outlives restarts. Members of stripes are not moved by it."
    })
final class RebalanceCommand extends AdminTarget implements Callable<Integer> {
  @Mixin private HelpOption help;
  @Mixin private Json json;

  @Option(
      names = {"--plan", "--dry-run"},
      description = "Only tells which disks would give and get how much.")
  private boolean plan;

  @Option(names = "--stop", description = "Stops it; moves under way go on.")
  private boolean stop;

  @Option(
      names = "--watch",
      description = "Waits until the disks are level, and shows what is left.")
  private boolean watch;

  @Option(
      names = "--threshold",
      paramLabel = "SHARE",
      description = "How far the used share of a disk may be from the mean, such as 10%%.")
  private String threshold;

  @Option(
      names = "--bandwidth",
      paramLabel = "BYTES",
      description = "The bytes that all moves together may move in a second, such as 20MB.")
  private String bandwidth;

  @Override
  public Integer call()
      throws ClusterException, ConfigException, IOException, InterruptedException {
    if (plan && stop) {
      throw new ClusterException("--plan and --stop do not go together: choose one of them");
    }
    Double share = threshold == null ? null : share(threshold);
    Long speed = bandwidth == null ? null : speed(bandwidth);
    return run(namenode -> order(namenode, share, speed));
  }

  /** A share such as 10% or 0.1. */
  static double share(String text) throws ClusterException {
    boolean percent = text.endsWith("%");
    try {
      double number = Double.parseDouble(percent ? text.substring(0, text.length() - 1) : text);
      double share = percent ? number / 100 : number;
      if (share > 0 && share < 1) {
        return share;
      }
    } catch (NumberFormatException e) {
      // The message below says what a share is.
    }
    throw new ClusterException(
        "'--threshold %s' is no share: write one between 0%% and 100%%, such as 10%%"
            .formatted(text));
  }

  private static long speed(String text) throws ClusterException {
    return Units.sizeBytes(text)
        .orElseThrow(
            () ->
                new ClusterException(
                    "'--bandwidth %s' is no number of bytes: write a number and a unit, such as 20MB"
                        .formatted(text)));
  }

  private int order(NamenodeClient namenode, Double share, Long speed)
      throws ClusterException, IOException, InterruptedException {
    RebalanceOrderProto order = RebalanceOrderProto.REBALANCE_START;
    if (plan || stop) {
      order = plan ? RebalanceOrderProto.REBALANCE_PLAN : RebalanceOrderProto.REBALANCE_STOP;
    }
    RebalanceState state = RebalanceState.ask(namenode, order, share, speed);
    if (state.refusal() != null) {
      throw new ClusterException(state.refusal());
    }
    if (!json.isAsked()) {
      System.out.print(state.disksAsText() + state.text());
    }
    while (watch && !plan && state.running() && state.bytesToMove() > 0) {
      pause();
      state = RebalanceState.ask(namenode, RebalanceOrderProto.REBALANCE_STATUS, null, null);
      if (!json.isAsked()) {
        System.out.print(state.text());
      }
    }
    if (json.isAsked()) {
      Json.print(state);
    }
    return 0;
  }
}
