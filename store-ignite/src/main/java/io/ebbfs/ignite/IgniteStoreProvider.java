package io.ebbfs.ignite;

import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.SharedStoreProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Lets namenodes share a store on Apache Ignite. */
public final class IgniteStoreProvider implements SharedStoreProvider {
  @Override
  public MetadataStore open(Path scratch, String host, List<String> nodes, long lockTimeoutMillis)
      throws IOException {
    return IgniteStore.open(
        StoreClientConfig.of(scratch, host, nodes).withLockTimeout(lockTimeoutMillis));
  }
}
