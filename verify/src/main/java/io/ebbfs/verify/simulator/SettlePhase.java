package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** The end of a schedule: all faults end, the cluster comes to rest, and everything is checked. */
final class SettlePhase {
  private static final int SETTLE_ROUNDS = 400;
  private static final int FULL_ROUNDS = 6;
  private static final int EVALUATIONS = 40;

  // With several namenodes later rounds are longer: what is not done by then mostly waits for a
  // lease to end. A server is heard in each round, before the namenode takes it for stale.
  private static final int SHORT_ROUNDS = 2;
  private static final long SHORT_ROUND_MILLIS = 1_000;
  private static final long LONG_ROUND_MILLIS = 2_500;

  private final SimSystem system;
  private final ProposalSource proposals;
  private final Random random;

  SettlePhase(SimSystem system, ProposalSource proposals) {
    this.system = system;
    this.proposals = proposals;
    random = system.random;
  }

  /** Ends all faults, waits for rest, and checks everything. */
  void run() throws IOException, ServiceException {
    system.log.add("faults end");
    if (system.store.isDead()) {
      system.restart();
    }
    system.store.revive();
    system.cluster.network().healAll();
    if (system.several() != null) {
      system.several().settle();
    }
    for (SimServer server : system.cluster.servers()) {
      server.start();
      server.scan();
      for (SimDisk disk : List.copyOf(server.disks())) {
        if (disk.hasFailed()) {
          system.replaceDisk(server, disk);
        }
      }
    }
    system.workers.forEach(SimWorker::crash);
    if (random.nextBoolean()) {
      system.client.oneDies();
    }
    if (system.world.isTight()) {
      disksGrow();
    }
    if (system.world.policies()) {
      policiesComeToRest();
    }
    comesToRest();
    system.oracle.checkAll();
    system.client.checkPaths(system.namenode().forClients());
    system.checkSpace();
    countSurvivedLosses();
    checkDegradedReads();
    List<Finding> findings = system.namenode().check();
    if (!findings.isEmpty()) {
      throw new Violation("the namenode's own check finds " + findings);
    }
  }

  /** Lets transitions end for lack of space, then gives the disks room and proposes them again. */
  private void disksGrow() throws IOException, ServiceException {
    for (int round = 0; round < FULL_ROUNDS; round++) {
      round(round);
      system.checkSpace();
    }
    system.cluster.grow();
    system.allServersHeartbeat();
    system.oracle.space().disksHaveRoom();
    system.log.add("disks grow");
    List<Long> files = system.oracle.space().refusedFiles();
    if (!files.isEmpty()) {
      proposals.encodeAgain(files);
    }
  }

  /** Evaluates the policies until they propose nothing more. The heat stays constant. */
  private void policiesComeToRest() throws IOException, ServiceException {
    for (int evaluation = 0; evaluation < EVALUATIONS; evaluation++) {
      for (int round = 1; round < 3; round++) {
        round(round);
      }
      int proposed = proposals.evaluatePolicies();
      if (proposed == 0 && !system.oracle.rest().anyActive()) {
        return;
      }
    }
    throw new Violation("policies propose more and more: " + proposals.lastDecisions());
  }

  private void round(int round) throws IOException, ServiceException {
    boolean isShort = system.several() == null || round < SHORT_ROUNDS;
    system.advance(isShort ? SHORT_ROUND_MILLIS : LONG_ROUND_MILLIS);
    system.allServersHeartbeat();
    if (round % 10 == 0) {
      system.allServersReport();
      for (SimServer server : system.cluster.servers()) {
        system.hear(() -> server.scrub(system.namenode().datanodes(server)));
      }
    }
    system.client.step(system.namenode().forClients());
    system.namenode().tick();
    system.work();
    system.oracle.check();
  }

  private void comesToRest() throws IOException, ServiceException {
    List<String> unfinished = List.of("nothing was tried");
    int rounds = 0;
    for (int round = 0; round < SETTLE_ROUNDS && !unfinished.isEmpty(); round++) {
      round(round);
      unfinished = system.oracle.rest().unfinished();
      rounds++;
    }
    system.events.addMany("rounds", rounds);
    if (!unfinished.isEmpty()) {
      throw new Violation("does not come to rest: " + unfinished);
    }
  }

  /** Counts the schedules that survive any rack or depend on one server. Neither is a violation. */
  private void countSurvivedLosses() {
    boolean depends = false;
    for (SimServer server : system.cluster.servers()) {
      Set<SimDisk> disks = new HashSet<>(server.disks());
      if (!system.oracle.decoding().survives(disks)) {
        depends = true;
        system.log.add(
            "at rest " + server.uuid() + " is needed: " + system.oracle.decoding().fatalFor(disks));
      }
    }
    if (depends) {
      system.events.add("schedules at rest that depend on one server");
    }
    if (system.world.racks() > 1) {
      Map<Integer, Set<SimDisk>> racks = new TreeMap<>();
      for (SimServer server : system.cluster.servers()) {
        racks
            .computeIfAbsent(
                SimTopology.rackOf(server.number(), system.world.racks()), rack -> new HashSet<>())
            .addAll(server.disks());
      }
      if (racks.size() > 1
          && racks.values().stream().allMatch(system.oracle.decoding()::survives)) {
        system.events.add("schedules at rest that survive the loss of any rack");
      }
    }
  }

  /** Degraded reads: some data members are decoded without their own blocks. */
  private void checkDegradedReads() throws ServiceException {
    for (StripeRow stripe : system.oracle.rows().stripes.values()) {
      for (StripeMemberProto member : stripe.getMembersList()) {
        boolean isFile = system.oracle.acknowledgedFiles().contains(member.getOwnerId());
        if (isFile && random.nextInt(6) == 0) {
          checkDegradedRead(member);
        }
      }
    }
  }

  private void checkDegradedRead(StripeMemberProto member) throws ServiceException {
    GetReadPlanResponseProto plan =
        system
            .namenode()
            .coding()
            .getReadPlan(
                null,
                GetReadPlanRequestProto.newBuilder()
                    .setBlock(
                        ExtendedBlockProto.newBuilder()
                            .setPoolId(system.namenode().blockPoolId())
                            .setBlockId(member.getBlockId())
                            .setGenerationStamp(member.getGenerationStamp())
                            .setNumBytes(member.getLengthBytes()))
                    .addExcludedBlockIds(member.getBlockId())
                    .build());
    BlockContent content =
        system.cluster.decode(plan.getSourcesList(), plan.getCoefficients().toByteArray());
    if (!BlockContent.of(member.getBlockId()).equals(content)
        || plan.getLengthBytes() != member.getLengthBytes()) {
      throw new Violation(
          "the read plan of block %d gives %s by coefficients %s"
              .formatted(
                  member.getBlockId(),
                  content,
                  Arrays.toString(plan.getCoefficients().toByteArray())));
    }
  }
}
