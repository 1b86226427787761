package io.ebbfs.namenode.store;

import java.io.IOException;

/** Stands around the syncs of a store's log. Tests hold syncs back with it and let them fail. */
interface SyncHook {
  SyncHook NONE = WalSync.Sync::run;

  /** Runs the sync. */
  void around(WalSync.Sync sync) throws IOException;

  /** Hears that a sync has failed. */
  default void failed(IOException failure) {}
}
