package io.ebbfs.namenode;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts of a server, which stop in the reverse order of their start. Not thread-safe. */
final class ServerParts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServerParts.class);

  private final List<AutoCloseable> parts = new ArrayList<>();

  /** Notes a part that {@link #close} stops before all parts noted earlier. */
  <T extends AutoCloseable> T stopsFirst(T part) {
    parts.add(part);
    return part;
  }

  /** Stops all parts, also if one of them fails or the thread is interrupted. */
  @Override
  public void close() {
    Collections.reverse(parts);
    boolean interrupted = false;
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (Exception e) {
        LOG.warn("A part of the namenode did not stop cleanly", e);
      }
    }
    parts.clear();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
