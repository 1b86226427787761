package io.ebbfs.ignite;

/** The contract with one node. */
class OneNodeStoreTest extends IgniteStoreContract {
  @Override
  int countOfNodes() {
    return 1;
  }
}
