package io.ebbfs.ignite;

import java.io.IOException;
import org.apache.ignite.IgniteClientDisconnectedException;
import org.apache.ignite.cluster.ClusterTopologyException;
import org.apache.ignite.internal.IgniteClientDisconnectedCheckedException;
import org.apache.ignite.internal.cluster.ClusterTopologyCheckedException;
import org.apache.ignite.internal.processors.cache.CacheInvalidStateException;
import org.apache.ignite.internal.util.typedef.X;
import org.apache.ignite.transactions.TransactionOptimisticException;
import org.apache.ignite.transactions.TransactionRollbackException;
import org.apache.ignite.transactions.TransactionTimeoutException;

/** What a failure of Ignite means for a transaction. */
final class Failures {
  private Failures() {}

  /** Nothing is written, and the same work may succeed when it runs again. */
  static boolean isRolledBack(RuntimeException failure) {
    return X.hasCause(
        failure,
        TransactionOptimisticException.class,
        TransactionRollbackException.class,
        TransactionTimeoutException.class);
  }

  /** A node left, or the way to the store is broken. */
  static boolean isOfTopology(RuntimeException failure) {
    return X.hasCause(
        failure,
        ClusterTopologyException.class,
        ClusterTopologyCheckedException.class,
        IgniteClientDisconnectedException.class,
        IgniteClientDisconnectedCheckedException.class);
  }

  /** No node has the rows, or too few nodes are there to write. */
  static boolean isOfMissingNodes(RuntimeException failure) {
    return X.hasCause(failure, CacheInvalidStateException.class);
  }

  static IOException ofMissingNodes(RuntimeException failure) {
    return new IOException(
        "too few nodes of the metadata store are running (%s); start the missing ones"
            .formatted(failure.getMessage()),
        failure);
  }

  static IOException of(String what, RuntimeException failure) {
    return new IOException(
        "%s failed in the metadata store: %s; look into the logs of its nodes"
            .formatted(what, failure.getMessage()),
        failure);
  }
}
