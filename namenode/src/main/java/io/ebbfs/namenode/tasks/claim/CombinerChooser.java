package io.ebbfs.namenode.tasks.claim;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * Chooses the server that runs a combine, that is, the server that reads the sources, computes the
 * outputs and sends each output to its target. Every repair, encoding, conversion and re-placement
 * step gets its combiner here.
 *
 * <p>Only a server that holds a source or a target is considered. The server with the lowest cost
 * wins; of equal costs the first in the list. The cost is counted in blocks:
 *
 * <ul>
 *   <li>each source that the server does not hold: it must be received;
 *   <li>each target that is on another server: it must be sent;
 *   <li>each block that the server has yet to receive for steps that were handed out before;
 *   <li>a tenth of a block for each transfer that the server reported with its last heartbeat;
 *   <li>a small random number, so that equal servers take turns.
 * </ul>
 *
 * <p>Example: a repair reads five blocks and writes one. Server A holds two of the five sources and
 * nothing else: it receives three blocks and sends one, cost 4. Server B holds only the target disk
 * and receives all five, cost 5. A is chosen, unless A has two more blocks to receive than B from
 * earlier steps, or has more than ten more transfers under way than B.
 *
 * <p>Pure: the state of the servers and the random numbers are handed in.
 */
final class CombinerChooser {
  /**
   * What one transfer that a server reported counts, in blocks. Example: a server with 20 transfers
   * under way costs as much as an idle server that must receive two more blocks. A transfer counts
   * less than a block of this step because it is a few seconds old and partly done.
   */
  static final double BLOCKS_PER_TRANSFER = 0.1;

  /** The largest draw that breaks a tie. */
  static final int MAX_DRAW = 100;

  /**
   * What one point of a draw counts, in blocks. The largest draw counts 100 x 0.001 = 0.1 blocks,
   * no more than one transfer. So a draw decides between servers that are otherwise equal, and
   * never outweighs a block.
   */
  static final double BLOCKS_PER_DRAW = 0.001;

  private CombinerChooser() {}

  /**
   * A server in service.
   *
   * @param outstandingBlocks blocks that it has yet to receive for steps handed out before
   * @param activeTransfers as of its last heartbeat
   */
  record Candidate(String serverUuid, int outstandingBlocks, int activeTransfers) {}

  /**
   * The chosen server, and why.
   *
   * @param candidate the server, with its load before this step
   * @param sources how many blocks the step reads
   * @param sourcesHeld how many of them the server holds
   * @param targets how many blocks the step writes
   * @param targetsHeld how many of them stay on the server
   * @param cost in blocks
   * @param considered how many servers held a source or a target
   */
  record Choice(
      Candidate candidate,
      int sources,
      int sourcesHeld,
      int targets,
      int targetsHeld,
      double cost,
      int considered) {
    String serverUuid() {
      return candidate.serverUuid();
    }

    /** How many sources the server must receive. */
    int sourcesToReceive() {
      return sources - sourcesHeld;
    }

    /** For people. */
    String reason() {
      return "server %s holds %d of %d sources and %d of %d targets, has %d blocks of earlier steps to receive and %d transfers under way: the lowest cost (%.3f blocks) of %d servers that hold a source or a target"
          .formatted(
              candidate.serverUuid(),
              sourcesHeld,
              sources,
              targetsHeld,
              targets,
              candidate.outstandingBlocks(),
              candidate.activeTransfers(),
              cost,
              considered);
    }

    @Override
    public String toString() {
      return reason();
    }
  }

  /**
   * Chooses.
   *
   * @param inService the servers that may be chosen; a server that is left out is never chosen
   * @param sources by block to read: the uuids of the servers that hold it
   * @param targets by block to write: the uuid of its server; empty if nothing is written
   * @param draw a number from 0 to {@link #MAX_DRAW}, called once for each server considered
   * @return empty if no server in service holds a source or a target
   */
  static Optional<Choice> choose(
      Collection<Candidate> inService,
      List<Set<String>> sources,
      List<Set<String>> targets,
      IntSupplier draw) {
    List<Candidate> holders =
        inService.stream()
            .filter(server -> held(server, sources) + held(server, targets) > 0)
            .toList();
    Choice best = null;
    for (Candidate server : holders) {
      int sourcesHeld = held(server, sources);
      int targetsHeld = held(server, targets);
      double cost =
          server.outstandingBlocks()
              + (sources.size() - sourcesHeld)
              + (targets.size() - targetsHeld)
              + BLOCKS_PER_TRANSFER * server.activeTransfers()
              + BLOCKS_PER_DRAW * draw.getAsInt();
      if (best == null || cost < best.cost()) {
        best =
            new Choice(
                server,
                sources.size(),
                sourcesHeld,
                targets.size(),
                targetsHeld,
                cost,
                holders.size());
      }
    }
    return Optional.ofNullable(best);
  }

  private static int held(Candidate candidate, List<Set<String>> blocks) {
    return (int)
        blocks.stream().filter(servers -> servers.contains(candidate.serverUuid())).count();
  }
}
