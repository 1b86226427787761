package io.ebbfs.namenode.files;

import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;

/** Access control lists in a store that namenodes share. */
class SharedAclServiceTest extends AclServiceTest {
  @Override
  MetadataStore store() {
    return InMemoryStore.shared();
  }
}
