package io.ebbfs.manager.api;

import static io.ebbfs.manager.api.ActionAnswers.figures;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.api.ActionAnswers.Answer;
import io.ebbfs.protocol.proto.CodingProtos.HibernateRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceOrderProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** The answers of /actions that let servers hibernate, and level the fullness of disks. */
final class CareAnswers {
  private final ManagerState manager;
  private final ActionAnswers actions;

  CareAnswers(ManagerState manager, ActionAnswers actions) {
    this.manager = manager;
    this.actions = actions;
  }

  // ---- hibernate and wake -----------------------------------------------------------------------

  Answer hibernate(Query query) {
    boolean dryRun = query.flag("dryRun");
    ServerStatusProto server = actions.server(query);
    HibernateResponseProto answer =
        order(
            HibernateRequestProto.newBuilder()
                .setServerUuid(server.getServer().getDatanodeUuid())
                .setEnd(false)
                .setDryRun(dryRun)
                .setForMillis(duration(query))
                .build());
    return actions.answer(
        "hibernate",
        dryRun,
        List.of(
            "Server %s takes no new blocks, and nothing is repaired for it until %s."
                .formatted(
                    ActionAnswers.name(server), Instant.ofEpochMilli(answer.getUntilMillis())),
            "Of its %,d blocks %,d were checked: they survive another loss meanwhile."
                .formatted(answer.getBlocks(), answer.getBlocksChecked()),
            "Stop the server once its state says that it may be stopped. When it comes back, it"
                + " goes on with its blocks."),
        hibernateFigures(answer));
  }

  private static long duration(Query query) {
    String text = query.text("for").orElse("");
    OptionalLong millis = Units.durationMillis(text);
    if (millis.isEmpty()) {
      throw new ApiException(
          400,
          "for '%s' is no duration".formatted(text),
          "write for= and a number with s, m, h or d, such as for=2h");
    }
    return millis.getAsLong();
  }

  Answer wake(Query query) {
    boolean dryRun = query.flag("dryRun");
    ServerStatusProto server = actions.server(query);
    HibernateResponseProto answer =
        order(
            HibernateRequestProto.newBuilder()
                .setServerUuid(server.getServer().getDatanodeUuid())
                .setEnd(true)
                .setDryRun(dryRun)
                .build());
    return actions.answer(
        "wake",
        dryRun,
        List.of(
            "Server %s is an ordinary server again: it takes new blocks while it is live, and its %,d blocks are repaired if it is down."
                .formatted(ActionAnswers.name(server), answer.getBlocks())),
        hibernateFigures(answer));
  }

  private static Map<String, Number> hibernateFigures(HibernateResponseProto answer) {
    return figures(
        "blocks", answer.getBlocks(),
        "blocksChecked", answer.getBlocksChecked(),
        "untilMillis", answer.getUntilMillis());
  }

  private HibernateResponseProto order(HibernateRequestProto request) {
    HibernateResponseProto answer = manager.namenode().hibernate(request);
    if (answer.hasRefusal()) {
      throw new ApiException(409, answer.getRefusal(), "nothing was changed");
    }
    return answer;
  }

  // ---- rebalance --------------------------------------------------------------------------------

  Answer rebalance(Query query) {
    boolean dryRun = query.flag("dryRun");
    RebalanceRequestProto.Builder request =
        RebalanceRequestProto.newBuilder()
            .setOrder(
                dryRun ? RebalanceOrderProto.REBALANCE_PLAN : RebalanceOrderProto.REBALANCE_START);
    query.text("threshold").ifPresent(text -> request.setThreshold(share(text)));
    query.text("bandwidth").ifPresent(text -> request.setBytesPerSecond(speed(text)));
    return answer("rebalance", dryRun, order(request.build()));
  }

  private static double share(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new ApiException(
          400,
          "threshold '%s' is no share".formatted(text),
          "write a number between 0 and 1, such as threshold=0.1");
    }
  }

  private static long speed(String text) {
    return Units.sizeBytes(text)
        .orElseThrow(
            () ->
                new ApiException(
                    400,
                    "bandwidth '%s' is no number of bytes".formatted(text),
                    "write a number with a unit, such as bandwidth=20MiB"));
  }

  Answer stopRebalance(Query query) {
    boolean dryRun = query.flag("dryRun");
    return answer(
        "stoprebalance",
        dryRun,
        order(
            RebalanceRequestProto.newBuilder()
                .setOrder(
                    dryRun
                        ? RebalanceOrderProto.REBALANCE_STATUS
                        : RebalanceOrderProto.REBALANCE_STOP)
                .build()));
  }

  private RebalanceResponseProto order(RebalanceRequestProto request) {
    RebalanceResponseProto answer = manager.namenode().rebalance(request);
    if (answer.hasRefusal()) {
      throw new ApiException(409, answer.getRefusal(), "nothing was changed");
    }
    return answer;
  }

  private Answer answer(String action, boolean dryRun, RebalanceResponseProto state) {
    List<String> summary = new ArrayList<>();
    summary.add(
        action.equals("rebalance")
            ? "Replicas move from the fullest disks to the emptiest ones, at %s a second, until no disk differs by more than %.1f%% from the mean of %.1f%%."
                .formatted(
                    Units.showBytes(state.getBytesPerSecond()),
                    state.getThreshold() * 100,
                    state.getMeanShare() * 100)
            : "No further replicas move to level the disks; those under way go on.");
    summary.add(
        "%d disks are too full or too empty: %s to move, about %,d seconds."
            .formatted(
                state.getFlowsCount(),
                Units.showBytes(state.getBytesToMove()),
                state.getSecondsLeft()));
    return actions.answer(
        action,
        dryRun,
        summary,
        figures(
            "disks", state.getFlowsCount(),
            "bytesToMove", state.getBytesToMove(),
            "secondsLeft", state.getSecondsLeft(),
            "movedBlocks", state.getMovedBlocks(),
            "movedBytes", state.getMovedBytes()));
  }
}
