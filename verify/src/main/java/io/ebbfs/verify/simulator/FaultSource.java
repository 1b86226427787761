package io.ebbfs.verify.simulator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Draws faults and makes them happen, within what the codes promise to survive. */
final class FaultSource {
  private final SimSystem system;
  private final Random random;
  private int joined;

  FaultSource(SimSystem system) {
    this.system = system;
    random = system.random;
  }

  /** Makes a random fault happen to the server, the worker or the namenode. */
  void happen(int step, SimServer server, SimWorker worker) throws IOException, ServiceException {
    switch (random.nextInt(22)) {
      case 0 -> {
        system.note(step, "worker crashes");
        worker.crash();
      }
      case 1 -> commitAfterLease(step, worker);
      case 2, 3, 4 -> worker.sendLateMessage(system.namenode().coding());
      case 5, 6, 7 -> crashOrStart(step, server);
      case 8, 9 -> failDisk(step, server);
      case 10 -> loseServer(step, server);
      case 11, 12 -> loseBlock(step, server);
      case 13, 14, 15 -> system.store.crashAfter(random.nextInt(6), random.nextBoolean());
      case 16, 17 -> stallOrGoOn(step, server);
      case 18 -> joinOrLeave(step, server);
      case 19, 20 -> {
        system.noteFault(step, "output computed wrong", "next");
        system.cluster.plantWrongOutput();
      }
      default -> {
        system.noteFault(step, "namenode restarts", "");
        system.restart();
      }
    }
  }

  /**
   * A worker hangs before a commit for longer than its lease. Then others claim its transitions.
   */
  private void commitAfterLease(int step, SimWorker any) throws IOException, ServiceException {
    SimWorker worker = system.workers.stream().filter(SimWorker::isBusy).findFirst().orElse(any);
    if (!worker.isBusy()) {
      worker.claim(system.namenode().coding(), 4);
    }
    Optional<SimWorker.LateCommit> late = worker.hangBeforeCommit(system.namenode().coding());
    if (late.isPresent()) {
      system.noteFault(step, "commit arrives after its lease", "");
      system.passTime(step);
      // The namenode hears of the written blocks, as it would within any lease.
      system.allServersHeartbeat();
      system.clock.advance(5_000);
      system.namenode().tick();
      system
          .workers
          .get(random.nextInt(system.workers.size()))
          .claim(system.namenode().coding(), 8);
      late.get().send(system.namenode().coding());
    }
  }

  private long silentServers() {
    return system.cluster.servers().stream().filter(s -> !s.answers()).count();
  }

  private void crashOrStart(int step, SimServer server) throws IOException {
    if (!server.isUp()) {
      system.note(step, server.uuid() + " starts");
      server.start();
      server.heartbeat(system.namenode().datanodes());
    } else if (silentServers() < 2) {
      system.noteFault(step, "server crashes", server.uuid());
      server.crash();
    }
  }

  private void stallOrGoOn(int step, SimServer server) {
    if (server.isStalled()) {
      system.note(step, server.uuid() + " goes on");
      server.stall(false);
      if (random.nextBoolean()) {
        // The commands are from before the stall.
        server.executeCommands(system.cluster, system::checkDeletion);
      }
    } else if (server.isUp() && silentServers() < 2) {
      system.noteFault(step, "server stalls", server.uuid());
      server.stall(true);
    }
  }

  private void joinOrLeave(int step, SimServer server) throws IOException {
    if (random.nextBoolean() && joined < 3) {
      joined++;
      system.noteFault(step, "server joins", "");
      system.cluster.join().heartbeat(system.namenode().datanodes());
    } else if (system.cluster.servers().size() > 7 && isSurvivable(new HashSet<>(server.disks()))) {
      system.noteFault(step, "server leaves for good", server.uuid());
      system.cluster.leave(server);
    }
  }

  /**
   * Whether the disks may be lost. Nothing may be destroyed beyond what the codes promise to
   * survive: one thing during an attempt of a transition, and nothing while the namenode has yet to
   * hear of an earlier loss.
   */
  private boolean isSurvivable(Set<SimDisk> disks) {
    Set<String> running = system.oracle.attempts().running();
    boolean survivable =
        !system.oracle.decoding().anyHiddenLoss()
            && !system.oracle.attempts().isAnyDisturbed(running)
            && system.oracle.decoding().survives(disks);
    if (survivable) {
      system.oracle.attempts().disturb(running);
    }
    return survivable;
  }

  private void failDisk(int step, SimServer server) throws IOException {
    SimDisk disk = server.disks().get(random.nextInt(system.world.disksPerServer()));
    if (!disk.hasFailed() && isSurvivable(Set.of(disk))) {
      system.noteFault(step, "disk fails", disk.uuid);
      server.failDisk(disk);
    } else if (disk.hasFailed() && random.nextBoolean()) {
      system.note(step, disk.uuid + " is replaced");
      system.replaceDisk(server, disk);
    }
  }

  /** A server loses all its disks, and empty ones replace them. */
  private void loseServer(int step, SimServer server) throws IOException {
    if (isSurvivable(new HashSet<>(server.disks()))) {
      system.noteFault(step, "server loses all its disks", server.uuid());
      server.crash();
      List.copyOf(server.disks()).forEach(disk -> system.replaceDisk(server, disk));
    }
  }

  private void loseBlock(int step, SimServer server) throws IOException {
    SimDisk disk = server.disks().get(random.nextInt(system.world.disksPerServer()));
    if (!disk.isEmpty() && isSurvivable(Set.of(disk))) {
      long id = new ArrayList<>(disk.blockIds()).get(random.nextInt(disk.blockIds().size()));
      if (random.nextBoolean()) {
        system.noteFault(step, "block rots", id + "@" + disk.uuid);
        server.corrupt(disk, id);
      } else {
        system.noteFault(step, "block vanishes", id + "@" + disk.uuid);
        server.loseQuietly(disk, id);
      }
    }
  }
}
