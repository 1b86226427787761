package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.function.Consumer;

/** Stands around the syncs of a store's log. Tests hold syncs back with it and let them fail. */
interface SyncHook {
  SyncHook NONE = WalSync.Sync::run;

  /** A hook that only passes failures on. */
  static SyncHook onFailure(Consumer<IOException> handler) {
    return new SyncHook() {
      @Override
      public void around(WalSync.Sync sync) throws IOException {
        sync.run();
      }

      @Override
      public void failed(IOException failure) {
        handler.accept(failure);
      }
    };
  }

  /** Runs the sync. */
  void around(WalSync.Sync sync) throws IOException;

  /** Hears that a sync has failed. */
  default void failed(IOException failure) {}
}
