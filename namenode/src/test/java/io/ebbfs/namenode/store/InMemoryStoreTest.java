package io.ebbfs.namenode.store;

class InMemoryStoreTest extends MetadataStoreContract {
  @Override
  protected MetadataStore open() {
    return new InMemoryStore(LOCK_TIMEOUT_MILLIS);
  }
}
