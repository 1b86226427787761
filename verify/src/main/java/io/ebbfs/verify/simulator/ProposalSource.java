package io.ebbfs.verify.simulator;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Draws proposals of transitions. */
final class ProposalSource {
  private final SimSystem system;
  private final Random random;
  private final SimManager manager;
  private final boolean releases;

  /**
   * @param releases whether blocks also leave their stripes
   */
  ProposalSource(SimSystem system, boolean releases) {
    this.system = system;
    this.releases = releases;
    random = system.random;
    manager =
        new SimManager(system.anyOf(SimCodes.pairs(system.world)), system.random, system.clock);
  }

  /** Lets the policies of the manager decide and propose. Returns the number of transitions. */
  int evaluatePolicies() {
    int proposed = manager.evaluate(system.namenode().coding());
    system.events.addMany("client policies propose", proposed);
    return proposed;
  }

  /** The last decisions of the policies, for people. */
  List<DecisionProto> lastDecisions() {
    return manager.lastDecisions();
  }

  /** Proposes again to encode files whose encoding was refused. */
  void encodeAgain(List<Long> files) throws ServiceException {
    system.events.add("client proposes again what had no place");
    send(
        -1,
        DecisionProto.newBuilder()
            .setKind(TransitionKindProto.ENCODE)
            .setToCode(system.anyOf(SimCodes.codes(system.world)).name())
            .addAllFileIds(files));
  }

  /** Proposes a random transition, or what the policies of the manager decide. */
  void propose(int step) throws IOException, ServiceException {
    if (system.world.policies() && random.nextInt(3) > 0) {
      system.note(step, "policies are evaluated");
      manager.heatChanges(system.oracle.acknowledgedFiles());
      evaluatePolicies();
      return;
    }
    List<StripeRow> stripes = new ArrayList<>(system.oracle.rows().stripes.values());
    if (random.nextInt(3) == 0 || stripes.isEmpty()) {
      encode(step);
      return;
    }
    StripeRow any = stripes.get(random.nextInt(stripes.size()));
    if (releases && random.nextInt(3) == 0) {
      release(step, any);
      return;
    }
    if (system.world.anyCode() && random.nextBoolean()) {
      convertToAnyCode(step, any, stripes);
      return;
    }
    convertWithinFamily(step, any, stripes);
  }

  /** Proposes that the blocks of some files of a stripe, or of all of them, become replicas. */
  private void release(int step, StripeRow stripe) throws ServiceException {
    boolean all = random.nextBoolean();
    Set<Long> files = new TreeSet<>();
    for (StripeMemberProto member : stripe.getMembersList()) {
      if (member.getOwnerId() != stripe.getId() && (all || random.nextBoolean())) {
        files.add(member.getOwnerId());
      }
    }
    send(
        step,
        DecisionProto.newBuilder()
            .setKind(TransitionKindProto.RELEASE)
            .setToCode(stripe.getCode())
            .addStripeIds(stripe.getId())
            .addAllFileIds(files));
  }

  /** Proposes to convert a stripe to the other code of its family, together with its group. */
  private void convertWithinFamily(int step, StripeRow any, List<StripeRow> stripes)
      throws ServiceException {
    Optional<CodeFamily> family = SimCodes.REGISTRY.familyOf(any.getCode());
    if (family.isEmpty()) {
      return;
    }
    boolean toCompact = family.get().fast().equals(any.getCode());
    DecisionProto.Builder decision =
        DecisionProto.newBuilder()
            .setKind(toCompact ? TransitionKindProto.UPCODE : TransitionKindProto.DOWNCODE)
            .setToCode(toCompact ? family.get().compact() : family.get().fast());
    for (StripeRow stripe : stripes) {
      boolean together =
          any.hasGroupId() && stripe.hasGroupId() && stripe.getGroupId() == any.getGroupId();
      if (stripe.getId() == any.getId() || toCompact && together) {
        decision.addStripeIds(stripe.getId());
      }
    }
    send(step, decision);
  }

  /** Proposes to convert a stripe, and up to three more of its code, to any code that fits. */
  private void convertToAnyCode(int step, StripeRow any, List<StripeRow> stripes)
      throws ServiceException {
    ErasureCode from = SimCodes.REGISTRY.byName(any.getCode());
    List<ErasureCode> fit =
        SimCodes.codes(system.world).stream()
            .filter(to -> !to.equals(from) && Planner.stripes(from, to).isPresent())
            .toList();
    if (fit.isEmpty()) {
      return;
    }
    ErasureCode to = system.anyOf(fit);
    DecisionProto.Builder decision =
        DecisionProto.newBuilder()
            .setKind(
                to.overhead() <= from.overhead()
                    ? TransitionKindProto.UPCODE
                    : TransitionKindProto.DOWNCODE)
            .setToCode(to.name())
            .addStripeIds(any.getId());
    stripes.stream()
        .filter(s -> s.getId() != any.getId() && s.getCode().equals(any.getCode()))
        .limit(3)
        .forEach(s -> decision.addStripeIds(s.getId()));
    send(step, decision);
  }

  /** Proposes to encode random files. */
  void encode(int step) throws ServiceException {
    List<Long> files = new ArrayList<>(system.oracle.acknowledgedFiles());
    Collections.shuffle(files, random);
    send(
        step,
        DecisionProto.newBuilder()
            .setKind(TransitionKindProto.ENCODE)
            .setToCode(system.anyOf(SimCodes.codes(system.world)).name())
            .addAllFileIds(files.subList(0, Math.min(files.size(), 1 + random.nextInt(8)))));
  }

  private void send(int step, DecisionProto.Builder decision) throws ServiceException {
    system.note(step, "propose " + decision.getKind() + " to " + decision.getToCode());
    ProposeRequestProto request =
        ProposeRequestProto.newBuilder()
            .addDecisions(decision.setPolicy("simulated").setReason("by chance"))
            .build();
    system.namenode().coding().propose(null, request);
  }
}
