package io.ebbfs.manager.api;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.policy.OrderedConversion;
import io.ebbfs.manager.policy.OrderedRelease;
import io.ebbfs.manager.schedule.DecisionProposer;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.PinResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import io.ebbfs.protocol.words.TransitionKinds;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import org.rocksdb.RocksDBException;

/**
 * The answers of /actions: what an operator orders. Each order with {@code dryRun=true} only tells
 * in numbers what it would do.
 */
final class ActionAnswers {
  /** All files of one conversion are in memory at once. */
  static final int MOST_FILES = 2_000;

  /** Files and directories that an order looks at: there may be directories without files. */
  private static final int MOST_INODES = 20_000;

  private static final double CHECKSUMS_OF_DATA = 1.0 / 128;

  private final ManagerState manager;

  ActionAnswers(ManagerState manager) {
    this.manager = manager;
  }

  /**
   * What an order does, or did.
   *
   * @param summary for people, one sentence after the other
   * @param figures the numbers of the summary; sizes are bytes
   * @param refusals what the namenode did not accept; empty in a dry run
   * @param transitionIds that were made
   */
  record Answer(
      String action,
      boolean dryRun,
      List<String> summary,
      Map<String, Number> figures,
      List<String> refusals,
      List<Long> transitionIds) {}

  Answer answer(String action, boolean dryRun, List<String> summary, Map<String, Number> figures) {
    return answer(action, dryRun, summary, figures, List.of());
  }

  private Answer answer(
      String action,
      boolean dryRun,
      List<String> summary,
      Map<String, Number> figures,
      List<DecisionProposer.Outcome> outcomes) {
    if (!dryRun) {
      manager
          .evaluator()
          .history()
          .noteAction(manager.nowMillis(), action, String.join(" ", summary));
    }
    return new Answer(
        action,
        dryRun,
        summary,
        figures,
        outcomes.stream()
            .map(DecisionProposer.Outcome::refusal)
            .filter(refusal -> refusal != null)
            .distinct()
            .toList(),
        outcomes.stream().flatMap(outcome -> outcome.transitionIds().stream()).toList());
  }

  // ---- pause and resume -------------------------------------------------------------------------

  Answer pause(Query query) throws RocksDBException {
    boolean dryRun = query.flag("dryRun");
    if (manager.store().pausedSince().isPresent()) {
      throw new ApiException(409, "proposing is paused already", "resume it, or do nothing");
    }
    if (!dryRun) {
      manager.evaluator().pause(manager.nowMillis());
    }
    List<TransitionRow> active = manager.transitions().active();
    long running = count(active, TransitionStateProto.RUNNING);
    long planned = count(active, TransitionStateProto.PLANNED);
    return answer(
        "pause",
        dryRun,
        List.of(
            "The manager proposes no encoding and no conversion until proposing is resumed, also"
                + " after a restart.",
            "%,d running and %,d planned transitions go on, and so do repairs."
                .formatted(running, planned)),
        figures("running", running, "planned", planned));
  }

  private static long count(List<TransitionRow> rows, TransitionStateProto state) {
    return rows.stream().filter(row -> row.getState() == state).count();
  }

  Answer resume(Query query) throws RocksDBException {
    boolean dryRun = query.flag("dryRun");
    OptionalLong since = manager.store().pausedSince();
    if (since.isEmpty()) {
      throw new ApiException(409, "proposing is not paused", "nothing to do");
    }
    Evaluator.Result last = manager.evaluator().last();
    List<Decision> waiting = last == null ? List.of() : last.evaluation().decisions();
    long bytes = waiting.stream().mapToLong(Decision::dataBytes).sum();
    if (!dryRun) {
      manager.store().resume();
    }
    return answer(
        "resume",
        dryRun,
        List.of(
            "The manager proposes again, after a pause of %s."
                .formatted(Units.showMillis(manager.nowMillis() - since.getAsLong())),
            "By the last evaluation it begins with %,d decisions about %s."
                .formatted(waiting.size(), Units.showBytes(bytes))),
        figures("decisions", waiting.size(), "dataBytes", bytes));
  }

  // ---- convert ----------------------------------------------------------------------------------

  Answer convert(Query query) {
    boolean dryRun = query.flag("dryRun");
    String path = absolute(query);
    String to = target(query);
    Evaluator.Ordered ordered = manager.evaluator().order(dryRun, () -> conversion(path, to));
    return answerOrder(
        "convert", dryRun, ordered, "%s (files: %,d)".formatted(path, ordered.plan().files()));
  }

  private Evaluator.Order conversion(String path, String to) {
    List<FileView> files = filesBelow(path);
    PolicyRule rule = ruleOf(path, files);
    if (!to.equals(OrderedRelease.REPLICAS)) {
      requireFamily(rule);
      refuseClientStriped(path, files);
    }
    Set<Long> stripes = new LinkedHashSet<>();
    files.forEach(file -> stripes.addAll(file.stripeIds()));
    return new Evaluator.Order(
        rule,
        switch (to) {
          case "fast" -> rule.family().fast();
          case "compact" -> rule.family().compact();
          default -> to;
        },
        "ordered by an operator for " + path,
        files.stream().map(FileView::id).toList(),
        stripes);
  }

  private static void refuseClientStriped(String path, List<FileView> files) {
    if (files.stream().allMatch(FileView::isClientStriped)) {
      throw new ApiException(
          409,
          "the clients of all files at or below %s have encoded them".formatted(path),
          "write to=replicas first: the policy encodes them afterwards, like all others");
    }
  }

  private static String target(Query query) {
    String to = query.text("to").orElse("");
    if (!List.of("fast", "compact", OrderedRelease.REPLICAS).contains(to)) {
      throw new ApiException(
          400, "'to=" + to + "' is unknown", "write to=fast, to=compact or to=replicas");
    }
    return to;
  }

  private List<FileView> filesBelow(String path) {
    List<FileView> files = new ArrayList<>();
    boolean whole =
        manager
            .view()
            .eachFileBelow(
                path, MOST_INODES, file -> files.add(file) && files.size() <= MOST_FILES);
    if (files.isEmpty() && whole) {
      throw new ApiException(
          404, "the manager knows no file at or below " + path, "name a path that exists");
    }
    if (!whole) {
      throw new ApiException(
          400,
          "there are more than %,d %s below %s, and one order converts no more"
              .formatted(
                  files.size() > MOST_FILES ? MOST_FILES : MOST_INODES,
                  files.size() > MOST_FILES ? "files" : "files and directories",
                  path),
          "name its subdirectories one after the other, or change the policy");
    }
    return files;
  }

  private static String show(OptionalDouble bound) {
    return bound.isPresent() ? String.format(Locale.ROOT, "%.2fx", bound.getAsDouble()) : "none";
  }

  /** Files without a policy are taken out. */
  private PolicyRule ruleOf(String path, List<FileView> files) {
    PolicySet policies = manager.policies().current().policies();
    Set<PolicyRule> rules = new LinkedHashSet<>();
    files.removeIf(file -> file.policyOf(policies).isEmpty());
    files.forEach(file -> rules.add(file.policyOf(policies).orElseThrow()));
    if (rules.size() != 1) {
      throw new ApiException(
          400,
          rules.isEmpty()
              ? "no policy matches the files below " + path
              : "several policies match files below %s: %s"
                  .formatted(path, rules.stream().map(PolicyRule::name).toList()),
          rules.isEmpty() ? "add its path to a policy" : "name a path of one policy alone");
    }
    return rules.iterator().next();
  }

  private static void requireFamily(PolicyRule rule) {
    if (rule.isSingle()) {
      throw new ApiException(
          400,
          "policy '%s' keeps its data in the single code %s"
              .formatted(rule.name(), rule.family().fast()),
          "give the policy a family of codes");
    }
  }

  private Answer answerOrder(
      String action, boolean dryRun, Evaluator.Ordered ordered, String what) {
    OrderedConversion.Plan plan = ordered.plan();
    if (plan.decisions().isEmpty()) {
      throw new ApiException(
          409,
          "nothing of %s is to be %s%s"
              .formatted(
                  what,
                  isRelease(plan)
                      ? "made replicas: no block of it is in a stripe that can be changed now"
                      : "encoded or converted to " + plan.toCode(),
                  showBusy(plan.busy(), ": ", "")
                      + showForeign(plan, ": ", "")
                      + showSingleReplica(plan, ": ", "")
                      + showUnknownReplication(plan, ": ", "")),
          plan.busy() > 0 ? "order it again when they are free" : "nothing to do");
    }
    if (!plan.isWithinBound()) {
      throw new ApiException(
          409,
          String.format(
              Locale.ROOT,
              "policy '%s' or the cluster would exceed its bound (%s; cluster: %s): the policy's"
                  + " encoded data would store %.3fx, or more until other transitions are done;"
                  + " nothing was proposed",
              plan.rule().name(),
              show(plan.rule().storageBound()),
              show(manager.policies().current().policies().storageBound()),
              plan.overheadAtEnd()),
          "order less, or raise the bound");
    }
    if (!dryRun) {
      manager.transitions().refresh(manager.namenode());
    }
    return answer(action, dryRun, summary(plan, what), figures(plan), ordered.outcomes());
  }

  private static List<String> summary(OrderedConversion.Plan plan, String what) {
    PolicyRule rule = plan.rule();
    List<String> lines = new ArrayList<>();
    if (isRelease(plan)) {
      lines.add(
          "%s: %s leave their stripes and become replicas."
              .formatted(what, Units.showBytes(plan.convertedBytes())));
      addClientStriped(plan, lines);
      addFigures(plan, lines);
      lines.add(
          "The policy encodes the files again once they have been write-cold for %s since then, unless they are pinned (user.ebbfs.pin: replicas)."
              .formatted(Units.showMillis(rule.writeColdAfterMillis())));
      return lines;
    }
    lines.add(
        "%s: %s that are not encoded yet are encoded in %s, and %s in stripes are converted to it."
            .formatted(
                what,
                Units.showBytes(plan.encodedBytes()),
                plan.toCode(),
                Units.showBytes(plan.convertedBytes())));
    if (plan.otherBytes() > 0) {
      lines.add(
          "%s of these belong to other files in the same stripes."
              .formatted(Units.showBytes(plan.otherBytes())));
    }
    addFigures(plan, lines);
    lines.add("Later evaluations follow the policy again and may convert the data back.");
    return lines;
  }

  private static void addClientStriped(OrderedConversion.Plan plan, List<String> lines) {
    if (plan.clientStripedFiles() > 0) {
      lines.add(
          "%,d of the files (%s) were encoded by their clients: %s."
              .formatted(
                  plan.clientStripedFiles(),
                  Units.showBytes(plan.clientStriped().dataBytes()),
                  plan.clientStriped().show()));
    }
  }

  private static boolean isRelease(OrderedConversion.Plan plan) {
    return plan.toCode().equals(OrderedRelease.REPLICAS);
  }

  private static void addFigures(OrderedConversion.Plan plan, List<String> lines) {
    PolicyRule rule = plan.rule();
    lines.add(
        "About %s are read and written; %s %s."
            .formatted(
                Units.showBytes(Math.round(plan.movedBytes())),
                Units.showBytes(Math.round(Math.abs(plan.storedDeltaBytes()))),
                plan.storedDeltaBytes() > 0 ? "more are stored" : "are freed"));
    lines.add(
        String.format(
            Locale.ROOT,
            "The encoded data of policy '%s' stores %s now and %s then; its bound is %s.",
            rule.name(),
            overhead(plan.overheadNow()),
            overhead(plan.overheadAtEnd()),
            rule.storageBound().isPresent()
                ? String.format(Locale.ROOT, "%.2fx", rule.storageBound().getAsDouble())
                : "none"));
    if (plan.busy() > 0) {
      lines.add(showBusy(plan.busy(), "", "."));
    }
    if (plan.foreign() > 0) {
      lines.add(showForeign(plan, "", "."));
    }
    if (plan.singleReplica() > 0) {
      lines.add(showSingleReplica(plan, "", "."));
    }
    if (plan.unknownReplication() > 0) {
      lines.add(showUnknownReplication(plan, "", "."));
    }
  }

  /** "1.400x", or "nothing" for 0. */
  static String overhead(double overhead) {
    return overhead == 0 ? "nothing" : String.format(Locale.ROOT, "%.3fx", overhead);
  }

  private static String showSingleReplica(
      OrderedConversion.Plan plan, String before, String after) {
    return plan.singleReplica() == 0
        ? ""
        : "%s%,d files are left out: their replication is 1, set it to 2 or more with hdfs dfs -setrep%s"
            .formatted(before, plan.singleReplica(), after);
  }

  private static String showUnknownReplication(
      OrderedConversion.Plan plan, String before, String after) {
    return plan.unknownReplication() == 0
        ? ""
        : "%s%,d files are left out: the namenode did not tell their replication, upgrade all namenodes%s"
            .formatted(before, plan.unknownReplication(), after);
  }

  private static String showBusy(long busy, String before, String after) {
    return busy == 0
        ? ""
        : "%s%,d files or stripes are left out: they are being written, converted or repaired%s"
            .formatted(before, busy, after);
  }

  private static String showForeign(OrderedConversion.Plan plan, String before, String after) {
    return plan.foreign() == 0
        ? ""
        : "%s%,d files or stripes are left out: they do not belong to policy '%s'%s"
            .formatted(before, plan.foreign(), plan.rule().name(), after);
  }

  private static Map<String, Number> figures(OrderedConversion.Plan plan) {
    return figures(
        "proposals", plan.decisions().size(),
        "encodedBytes", plan.encodedBytes(),
        "convertedBytes", plan.convertedBytes(),
        "otherBytes", plan.otherBytes(),
        "movedBytes", Math.round(plan.movedBytes()),
        "storedDeltaBytes", Math.round(plan.storedDeltaBytes()),
        "overheadNow", plan.overheadNow(),
        "overheadAtEnd", plan.overheadAtEnd(),
        "busy", plan.busy(),
        "foreign", plan.foreign(),
        "singleReplica", plan.singleReplica(),
        "unknownReplication", plan.unknownReplication(),
        "clientStripedFiles", plan.clientStripedFiles(),
        "clientStripedBytes", plan.clientStriped().dataBytes(),
        "clientStripedReadBytes", plan.clientStriped().readBytes(),
        "clientStripedWrittenBytes", plan.clientStriped().writtenBytes(),
        "clientStripedStoredBytesNow", plan.clientStriped().storedBytesNow(),
        "clientStripedStoredBytesThen", plan.clientStriped().storedBytesThen());
  }

  static Map<String, Number> figures(Object... namesAndNumbers) {
    Map<String, Number> figures = new LinkedHashMap<>();
    for (int i = 0; i < namesAndNumbers.length; i += 2) {
      figures.put((String) namesAndNumbers[i], (Number) namesAndNumbers[i + 1]);
    }
    return figures;
  }

  // ---- pins -------------------------------------------------------------------------------------

  Answer pin(Query query) {
    boolean dryRun = query.flag("dryRun");
    String path = absolute(query);
    Pin pin =
        query
            .oneOf("to", Pin.class)
            .orElseThrow(
                () ->
                    new ApiException(
                        400, "no pin is given", "add to=fast, compact, replicas or none"));
    PinResponseProto pinned = manager.namenode().pin(path, pin, dryRun);
    if (pinned.hasRefusal()) {
      throw new ApiException(409, pinned.getRefusal(), "nothing was changed");
    }
    Pin before = Pin.of(pinned.hasBefore(), pinned.getBefore());
    if (before == pin && dryRun) {
      throw new ApiException(
          409,
          pin == Pin.NONE
              ? path + " has no pin of its own"
              : "%s is pinned to %s already".formatted(path, pin.text()),
          "nothing to do; a pin of a directory above may hold");
    }
    PinPlan plan = PinPlan.of(manager.view(), path, pin, before);
    return answer("pin", dryRun, plan.summary(), plan.figures());
  }

  private static String absolute(Query query) {
    return query
        .text("path")
        .filter(text -> text.startsWith("/"))
        .orElseThrow(
            () -> new ApiException(400, "no absolute path is given", "add path=/DIRECTORY"));
  }

  /** The policy in force with this name. */
  PolicyRule named(String name) {
    return manager
        .policies()
        .current()
        .policies()
        .named(name)
        .orElseThrow(
            () ->
                new ApiException(
                    404,
                    "there is no policy '" + name + "'",
                    "write policy= and one of "
                        + manager.policies().current().policies().rules().stream()
                            .map(PolicyRule::name)
                            .toList()));
  }

  // ---- transitions ------------------------------------------------------------------------------

  Answer cancel(Query query) {
    boolean dryRun = query.flag("dryRun");
    TransitionRow row = transition(query);
    if (!isActive(row)) {
      throw new ApiException(
          409,
          "transition %d has ended as %s".formatted(row.getId(), row.getState()),
          "nothing to cancel");
    }
    refuseOtherKinds(row, "cancelled: the namenode would plan it again at once");
    if (!dryRun) {
      String reason = "cancelled by an operator";
      String refusal = refusalOf(row.getId(), reason);
      if (!refusal.isEmpty()) {
        throw new ApiException(409, refusal, "see /api/v1/transitions");
      }
      manager.transitions().refresh(manager.namenode());
    }
    boolean running = row.getState() == TransitionStateProto.RUNNING;
    long retryMillis = manager.config().limits().retryFailedAfterMillis();
    return answer(
        "cancel",
        dryRun,
        List.of(
            "Transition %d (%s to %s, %s) ends as FAILED; it concerns %,d blocks and %,d stripes."
                .formatted(
                    row.getId(),
                    TransitionKinds.show(row.getKind()),
                    row.getToCode(),
                    running ? "running" : "planned",
                    row.getBlocksCount(),
                    row.getStripesCount()),
            running
                ? "The %,d blocks that it has begun to write are deleted; the data stays as it is."
                    .formatted(row.getOutputsCount())
                : "Nothing was written for it; the data stays as it is.",
            "The policy may propose the same again after %s, unless proposing is paused."
                .formatted(Units.showMillis(retryMillis))),
        figures(
            "blocks", row.getBlocksCount(),
            "stripes", row.getStripesCount(),
            "writtenBlocks", row.getOutputsCount()));
  }

  private String refusalOf(long id, String reason) {
    return manager.namenode().cancel(id, reason).getRefusal();
  }

  private static boolean isActive(TransitionRow row) {
    return row.getState() == TransitionStateProto.PLANNED
        || row.getState() == TransitionStateProto.RUNNING;
  }

  private TransitionRow transition(Query query) {
    long id = query.number("id", -1, 0, Long.MAX_VALUE);
    if (id < 0) {
      throw new ApiException(400, "no transition is named", "add id=, see /api/v1/transitions");
    }
    return manager.namenode().transitions(List.of(id)).stream()
        .findFirst()
        .orElseThrow(
            () ->
                new ApiException(
                    404,
                    "there is no transition %d, or its row was deleted long after its end"
                        .formatted(id),
                    "see /api/v1/transitions"));
  }

  private static void refuseOtherKinds(TransitionRow row, String why) {
    boolean ordered =
        switch (row.getKind()) {
          case ENCODE, UPCODE, DOWNCODE, RELEASE -> true;
          case REPAIR, REWRITE, SUBTRACT, MOVE -> false;
        };
    if (!ordered) {
      throw new ApiException(
          409,
          "a %s (transition %d) cannot be %s"
              .formatted(TransitionKinds.show(row.getKind()), row.getId(), why),
          "nothing to do: the namenode looks after repairs, rewrites, subtractions and"
              + " re-placements itself");
    }
  }

  Answer retry(Query query) {
    boolean dryRun = query.flag("dryRun");
    TransitionRow row = transition(query);
    if (!TransitionView.UNDONE.contains(row.getState())) {
      throw new ApiException(
          409,
          "transition %d has not failed: it is %s".formatted(row.getId(), row.getState()),
          "name a transition that is FAILED, NO_SPACE or NO_DOMAINS");
    }
    refuseOtherKinds(row, "tried again by an order");
    PolicyRule rule = named(row.getPolicy());
    boolean ofFamily =
        row.getKind() == TransitionKindProto.RELEASE
            || row.getToCode().equals(rule.family().fast())
            || row.getToCode().equals(rule.family().compact());
    if (!ofFamily) {
      throw new ApiException(
          409,
          "policy '%s' has no code %s any more".formatted(rule.name(), row.getToCode()),
          "nothing to do: the policy decides anew");
    }
    Evaluator.Ordered ordered = manager.evaluator().order(dryRun, () -> again(rule, row));
    return answerOrder("retry", dryRun, ordered, "Transition " + row.getId());
  }

  private Evaluator.Order again(PolicyRule rule, TransitionRow row) {
    if (row.hasGroupFileId()) {
      return new Evaluator.Order(
          rule,
          OrderedRelease.REPLICAS,
          "tried again by an operator after the failure of transition " + row.getId(),
          List.of(row.getGroupFileId()),
          List.of());
    }
    if (row.getKind() == TransitionKindProto.RELEASE) {
      return releaseAgain(rule, row);
    }
    return new Evaluator.Order(
        rule,
        row.getToCode(),
        "tried again by an operator after the failure of transition " + row.getId(),
        row.getBlocksList().stream().map(TransitionBlockProto::getOwnerId).distinct().toList(),
        row.getStripesList().stream().map(TransitionStripeProto::getStripeId).toList());
  }

  private Evaluator.Order releaseAgain(PolicyRule rule, TransitionRow row) {
    Set<Integer> positions = new HashSet<>(row.getStripes(0).getPositionsList());
    long stripeId = row.getStripes(0).getStripeId();
    StripeView stripe = manager.view().stripe(stripeId);
    List<Long> files =
        stripe == null
            ? List.of()
            : stripe.members().stream()
                .filter(m -> m.isOwnedByFile(stripeId) && positions.contains(m.position()))
                .map(StripeView.Member::ownerId)
                .distinct()
                .toList();
    return new Evaluator.Order(
        rule,
        OrderedRelease.REPLICAS,
        "tried again by an operator after the failure of transition " + row.getId(),
        files,
        List.of(stripeId));
  }

  // ---- scrub ------------------------------------------------------------------------------------

  Answer scrub(Query query) {
    boolean dryRun = query.flag("dryRun");
    GetClusterResponseProto cluster = manager.namenode().cluster();
    ScrubStatusProto scrub = cluster.getScrub();
    if (!cluster.hasScrub()) {
      throw new ApiException(
          409,
          "no pass of the parity scrub was reported yet",
          "the first one begins by itself: see that a raid-node runs and that scrub.period in"
              + " raid-node.yaml is not 0");
    }
    if (scrub.getEndedMillis() < scrub.getPassStartedMillis()) {
      throw new ApiException(
          409,
          "pass %d of the parity scrub is under way: it has checked %,d stripes"
              .formatted(scrub.getPass(), scrub.getPassStripes()),
          "nothing to do");
    }
    long bytes =
        cluster.getSpaceBytesList().stream()
            .filter(count -> !count.getName().equals("replicated"))
            .filter(count -> !count.getName().equals("reserved"))
            .mapToLong(CountProto::getValue)
            .sum();
    long read = Math.round(bytes * CHECKSUMS_OF_DATA);
    if (!dryRun) {
      manager.namenode().requestScrub(scrub.getPass() + 1);
    }
    return answer(
        "scrub",
        dryRun,
        List.of(
            "Pass %d of the parity scrub begins within 10 seconds and checks all stripes, provided that"
                    .formatted(scrub.getPass() + 1)
                + " a raid-node runs whose scrub.period is not 0; else the request waits for one.",
            "The last pass checked %,d stripes and found %,d."
                .formatted(scrub.getEndedStripes(), scrub.getEndedFindings()),
            "The stripes store %s; the checksum files are about %s, and the data of some stripes is"
                    .formatted(Units.showBytes(bytes), Units.showBytes(read))
                + " read as well, within the limits of raid-node.yaml."),
        figures(
            "pass",
            scrub.getPass() + 1,
            "lastStripes",
            scrub.getEndedStripes(),
            "stripeBytes",
            bytes,
            "checksumBytes",
            read));
  }

  // ---- drain and undrain ------------------------------------------------------------------------

  Answer drain(Query query) {
    boolean dryRun = query.flag("dryRun");
    ServerStatusProto server = server(query);
    DrainResponseProto drain = order(server, false, dryRun);
    String roughly = drain.getEstimated() ? "about " : "";
    return answer(
        "drain",
        dryRun,
        List.of(
            "Server %s takes no new blocks from now on. Its %s%,d blocks (%s%s) get places on other servers: replicas are copied, and members of stripes are moved."
                .formatted(
                    name(server),
                    roughly,
                    drain.getBlocks(),
                    roughly,
                    Units.showBytes(drain.getBytes())),
            "%d live servers stay, with %s free."
                .formatted(
                    drain.getServersThatStay(), Units.showBytes(drain.getFreeBytesThatStay())),
            "Reads go on. Stop the server once it is drained; until then it can be taken back at"
                + " any time."),
        drainFigures(drain));
  }

  Answer undrain(Query query) {
    boolean dryRun = query.flag("dryRun");
    ServerStatusProto server = server(query);
    DrainResponseProto drain = order(server, true, dryRun);
    return answer(
        "undrain",
        dryRun,
        List.of(
            "Server %s takes new blocks again, and its %,d blocks count again."
                .formatted(name(server), drain.getBlocks()),
            "Replicas of them that were copied elsewhere are deleted where they are too many."),
        drainFigures(drain));
  }

  private static Map<String, Number> drainFigures(DrainResponseProto drain) {
    return figures(
        "blocks", drain.getBlocks(),
        "bytes", drain.getBytes(),
        "serversThatStay", drain.getServersThatStay(),
        "freeBytesThatStay", drain.getFreeBytesThatStay());
  }

  private DrainResponseProto order(ServerStatusProto server, boolean end, boolean dryRun) {
    DrainResponseProto answer =
        manager.namenode().drain(server.getServer().getDatanodeUuid(), end, dryRun);
    if (answer.hasRefusal()) {
      throw new ApiException(409, answer.getRefusal(), "nothing was changed");
    }
    return answer;
  }

  static String name(ServerStatusProto server) {
    return server.getServer().getHostName() + ":" + server.getServer().getXferPort();
  }

  ServerStatusProto server(Query query) {
    String name = query.text("server").orElse("");
    List<ServerStatusProto> servers = manager.namenode().cluster().getServersList();
    List<ServerStatusProto> found =
        servers.stream()
            .filter(s -> s.getServer().getDatanodeUuid().equals(name) || name(s).equals(name))
            .toList();
    if (found.size() != 1) {
      throw new ApiException(
          404,
          "%d servers have the name or uuid '%s'".formatted(found.size(), name),
          "write server= and the uuid or name of one of the %d servers that /api/v1/cluster lists"
              .formatted(servers.size()));
    }
    return found.get(0);
  }
}
