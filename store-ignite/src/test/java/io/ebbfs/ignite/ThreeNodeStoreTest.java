package io.ebbfs.ignite;

/** The contract with three nodes. */
class ThreeNodeStoreTest extends IgniteStoreContract {
  @Override
  int countOfNodes() {
    return 3;
  }
}
