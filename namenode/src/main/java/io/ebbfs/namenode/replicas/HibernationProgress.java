package io.ebbfs.namenode.replicas;

import java.util.Optional;

/**
 * What is known of the blocks of a server that hibernates.
 *
 * @param blocks that the last walk over the server has looked at
 * @param blocksLeft those of them that would not survive another loss while the server is away
 * @param stuck names the first of these, with the reason and a remedy
 */
public record HibernationProgress(long blocks, long blocksLeft, Optional<String> stuck) {
  static final HibernationProgress NONE = new HibernationProgress(0, 0, Optional.empty());
}
