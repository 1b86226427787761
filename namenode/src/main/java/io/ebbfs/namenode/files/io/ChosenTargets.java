package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import java.io.IOException;
import java.util.List;

/**
 * The targets of one new block, while its transaction may run several times or fail. Each choice
 * reserves room on its disks, so a repetition with the same request uses the choice of the first
 * run, and a choice that no commit uses is given back. Used by one thread.
 */
final class ChosenTargets implements AutoCloseable {
  private final BlockService blocks;
  private WriteRequest request;
  private List<Target> targets = List.of();

  ChosenTargets(BlockService blocks) {
    this.blocks = blocks;
  }

  /** The targets for a request; those of the last request if it was the same. */
  List<Target> of(WriteRequest wanted) throws IOException {
    if (!wanted.equals(request)) {
      close();
      targets = blocks.chooseTargets(wanted);
      request = wanted;
    }
    return targets;
  }

  /** Notes that a commit has used the targets. */
  void keep() {
    targets = List.of();
  }

  @Override
  public void close() {
    blocks.giveBack(targets);
    targets = List.of();
    request = null;
  }
}
