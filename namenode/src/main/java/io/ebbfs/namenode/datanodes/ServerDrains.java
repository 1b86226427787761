package io.ebbfs.namenode.datanodes;

import java.io.IOException;
import java.util.Optional;

/** Begins and ends drains of servers. Thread-safe. */
public interface ServerDrains {
  /**
   * Begins to drain a server that is not drained yet. The state is durable when the call returns.
   *
   * @return whether it began now
   * @throws IOException if no server has this uuid
   */
  boolean startDrain(String serverUuid) throws IOException;

  /**
   * Takes a server back that is drained, or being drained.
   *
   * @return whether it was
   * @throws IOException if no server has this uuid, or for the reason of {@link #whyNotEnded}
   */
  boolean endDrain(String serverUuid) throws IOException;

  /** Why the drain of a server cannot be ended: the list of excluded servers names the server. */
  Optional<String> whyNotEnded(String serverUuid);

  /** So many replicas elsewhere suffice for a server to leave, though a file may want more. */
  int enoughReplicas();
}
