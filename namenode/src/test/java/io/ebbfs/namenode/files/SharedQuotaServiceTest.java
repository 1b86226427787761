package io.ebbfs.namenode.files;

import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;

/** Quotas in a store that namenodes share. */
class SharedQuotaServiceTest extends QuotaServiceTest {
  @Override
  MetadataStore store() {
    return InMemoryStore.shared();
  }
}
