package io.ebbfs.namenode.files;

import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;

/** Extended attributes in a store that namenodes share. */
class SharedXAttrServiceTest extends XAttrServiceTest {
  @Override
  MetadataStore store() {
    return InMemoryStore.shared();
  }
}
