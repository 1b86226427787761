package io.ebbfs.fault;

import java.nio.file.Path;
import java.util.List;

/**
 * What was done to a cluster.
 *
 * @param what in one line, for people
 * @param blockIds blocks that lost a replica by it
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
