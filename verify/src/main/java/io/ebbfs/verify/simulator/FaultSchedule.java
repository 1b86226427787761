package io.ebbfs.verify.simulator;

import io.ebbfs.manager.view.NamenodeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * One random schedule of events and faults. Equal seeds give equal schedules: everything random
 * comes from the seed, and there is one thread.
 */
final class FaultSchedule {
  // The share of the events of several namenodes.
  private static final int NAMENODE_PERCENT = 25;

  private final Random random;
  private final long seed;
  private final SimSystem system;
  private final FaultSource faults;
  private final ProposalSource proposals;
  // The probability, in percent, that a drawn fault happens.
  private final int faultPercent;
  private boolean faultInTransition;
  private int step;

  FaultSchedule(long seed, PlantedBug bug, ScheduleRunner.Shape shape) throws IOException {
    int namenodes = shape.namenodes();
    this.seed = seed;
    random = new Random(new SplittableRandom(seed).nextLong());
    SimWorld drawn = SimWorld.of(random);
    SimWorld world = namenodes > 1 ? drawn.small() : drawn;
    faultPercent = random.nextInt(101);
    system = new SimSystem(world, random, bug, namenodes);
    proposals = new ProposalSource(system, shape.releases());
    faults = new FaultSource(system, proposals);
    system.log.add("seed %d, %s".formatted(seed, world));
  }

  /** What happened, for people. */
  List<String> log() {
    return system.log;
  }

  /** How often each kind of event happened. */
  EventCounts events() {
    return system.events;
  }

  /**
   * Makes random events happen and checks after each. Then the cluster comes to rest for a last
   * check.
   *
   * @param maxSteps the most events; at least a quarter of them happen
   */
  void run(int maxSteps) throws IOException, ServiceException {
    int steps = maxSteps - random.nextInt(maxSteps * 3 / 4 + 1);
    system.startSeveral(this::eventsWhileFrozen);
    system.allServersReport();
    int files =
        system.several() != null
            ? 1 + random.nextInt(3)
            : (system.world.isTight() ? 8 : 2) + random.nextInt(4);
    for (int f = 0; f < files; f++) {
      system.write();
    }
    if (random.nextBoolean()) {
      encodeWithoutFaults();
    }
    if (system.several() != null) {
      system.several().setFaulty(faultPercent > 0);
    }
    for (step = 0; step < steps; step++) {
      event(step);
      check();
    }
    new SettlePhase(system, proposals).run();
    system.events.add("schedules");
    countWorld();
    if (faultInTransition) {
      system.events.add("schedules with a fault inside a running transition");
    }
  }

  private void check() throws IOException {
    system.oracle.check();
    if (system.world.isTight()) {
      system.checkSpace();
    }
  }

  /** A namenode is frozen: other events happen. Mostly another namenode takes over first. */
  private void eventsWhileFrozen() {
    system.note(step, "a namenode is frozen {");
    try {
      if (random.nextInt(3) > 0) {
        system.advance(SimPeer.TIMES.timeout() + 1_000 + random.nextInt(1_000));
        system.allServersHeartbeat();
      }
      for (int i = random.nextInt(6); i >= 0; i--) {
        event(step);
        check();
      }
    } catch (IOException e) {
      system.note(step, "refused: " + e.getMessage());
    } catch (ServiceException e) {
      throw new IllegalStateException(e);
    }
    system.note(step, "} it wakes up");
  }

  private void countWorld() {
    if (system.world.isTight()) {
      system.events.add("schedules with small disks");
    }
    if (system.world.racks() > 1) {
      system.events.add("schedules with racks");
    }
    if (system.world.anyCode()) {
      system.events.add("schedules with codes of users and conversions between any two");
    }
    if (system.world.policies()) {
      system.events.add("schedules with the manager's policies");
    }
  }

  /** Encodes files before the faults begin, so that there are stripes to convert and to repair. */
  private void encodeWithoutFaults() throws IOException, ServiceException {
    int count = 1 + random.nextInt(2);
    for (int i = 0; i < count; i++) {
      proposals.encode(-1);
    }
    for (int round = 0; round < 2; round++) {
      system.allServersHeartbeat();
      system.work();
      system.oracle.check();
    }
  }

  private void event(int step) throws IOException, ServiceException {
    int choice = random.nextInt(100);
    try {
      if (system.several() != null && random.nextInt(100) < NAMENODE_PERCENT) {
        namenodeFault(step);
      } else if (random.nextInt(100) < system.world.clientPercent()) {
        clientTurn(step, choice);
      } else {
        act(step, choice);
      }
    } catch (CrashingStore.Crash e) {
      system.note(step, "the namenode dies in event " + choice);
      system.events.add("fault namenode died at a transaction");
    } catch (IOException | ServiceException | NamenodeException e) {
      system.note(step, "refused: " + e.getMessage());
    }
    if (system.store.isDead()) {
      system.restart();
    }
  }

  private void namenodeFault(int step) throws IOException {
    String what = random.nextInt(100) < faultPercent ? system.several().fault() : "";
    if (!what.isEmpty()) {
      system.note(step, what);
    }
  }

  private void act(int step, int choice) throws IOException, ServiceException {
    SimServer server = system.anyServer();
    SimWorker worker = system.workers.get(random.nextInt(system.workers.size()));
    if (choice < 5) {
      system.note(step, "write");
      system.write();
    } else if (choice < 9) {
      delete(step);
    } else if (choice < 17) {
      proposals.propose(step);
    } else if (choice < 26) {
      worker.claim(system.codingFor(worker), 1 + random.nextInt(4));
    } else if (choice < 52) {
      worker.advance(system.codingFor(worker), faultPercent > 0);
    } else if (choice < 55) {
      worker.renew(system.codingFor(worker));
    } else if (choice < 66) {
      serverTurn(server);
    } else if (choice < 74) {
      system.advance(500 + random.nextInt(1_500));
      system.namenode().tick();
    } else if (choice < 76) {
      system.passTime(step);
    } else if (choice < 80) {
      system.allServersHeartbeat();
    } else if (random.nextInt(100) < faultPercent) {
      if (!system.oracle.attempts().running().isEmpty()) {
        faultInTransition = true;
      }
      faults.happen(step, server, worker);
    }
  }

  /** A client opens, writes, renames or deletes a file. */
  private void clientTurn(int step, int choice) throws IOException {
    SimClient.Namenode namenode = system.namenode().forClients();
    if (choice < 15 || !system.client.isWriting()) {
      system.note(step, "a client opens a file");
      system.open();
    } else if (choice < 84) {
      system.note(step, "clients write");
      system.client.step(namenode);
    } else if (choice < 87) {
      system.note(step, "truncate");
      system.client.truncate(namenode);
    } else if (choice < 90) {
      system.note(step, "concat");
      system.client.concat(namenode);
    } else if (choice < 97) {
      system.note(step, "rename");
      system.client.rename(namenode);
    } else {
      system.note(step, "delete an open file");
      system.client.deleteOpen(namenode);
    }
  }

  /** A server sends a heartbeat or a report, scrubs its disks, or executes its commands. */
  private void serverTurn(SimServer server) throws IOException {
    if (!server.answers()) {
      return;
    }
    switch (random.nextInt(6)) {
      case 0, 1 -> server.heartbeat(system.namenode().datanodes(server));
      case 2, 3 -> server.incrementalReport(system.namenode().datanodes(server));
      case 4 -> server.executeCommands(system.cluster, system.namenode().datanodes(server));
      default -> {
        switch (random.nextInt(3)) {
          case 0 -> server.fullReport(system.namenode().datanodes(server));
          case 1 -> {
            system.events.add("fault news sent twice");
            server.repeatIncrementalReport(system.namenode().datanodes(server));
          }
          default -> server.scrub(system.namenode().datanodes(server));
        }
      }
    }
  }

  private void delete(int step) throws IOException {
    List<Long> files = new ArrayList<>(system.oracle.acknowledgedFiles());
    if (files.isEmpty()) {
      return;
    }
    long file = files.get(random.nextInt(files.size()));
    boolean overwritten = random.nextInt(4) == 0;
    system.note(step, (overwritten ? "overwrite" : "delete") + " file " + file);
    system.events.add(overwritten ? "client overwrites a file" : "client deletes a file");
    system.client.delete(system.namenode().forClients(), file);
    if (overwritten) {
      system.write();
    }
  }

  @Override
  public String toString() {
    return "seed " + seed;
  }
}
