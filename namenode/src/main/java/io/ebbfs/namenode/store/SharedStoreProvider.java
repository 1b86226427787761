package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;

/**
 * Opens a store that many namenodes share. The implementation is found by {@link ServiceLoader}, so
 * that a namenode with an embedded store needs none on its class path.
 */
public interface SharedStoreProvider {
  /**
   * Joins a store.
   *
   * @param scratch a directory for files that are of no use after the process has ended
   * @param host the address of this machine
   * @param nodes host:port of some processes that hold rows
   * @throws StoreOpenException with a remedy if the store does not answer
   */
  MetadataStore open(Path scratch, String host, List<String> nodes, long lockTimeoutMillis)
      throws IOException;

  /**
   * The provider on the class path.
   *
   * @throws StoreOpenException if there is none
   */
  static SharedStoreProvider find() throws StoreOpenException {
    return ServiceLoader.load(SharedStoreProvider.class)
        .findFirst()
        .orElseThrow(
            () ->
                new StoreOpenException(
                    "'storeNodes' names a shared store, but its module is not on the class path: add store-ignite, or remove the key for an embedded store",
                    null));
  }
}
