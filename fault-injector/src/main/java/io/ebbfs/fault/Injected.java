package io.ebbfs.fault;

import java.nio.file.Path;
import java.util.List;

/**
 * A fault that was injected into a cluster.
 *
 * @param what one line for people
 * @param blockIds blocks that lost a replica
 * @param files files that were changed or deleted
 */
public record Injected(String what, List<Long> blockIds, List<Path> files) {
  public Injected {
    blockIds = List.copyOf(blockIds);
    files = List.copyOf(files);
  }

  @Override
  public String toString() {
    return what;
  }
}
