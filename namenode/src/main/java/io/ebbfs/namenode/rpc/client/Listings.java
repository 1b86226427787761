package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.BatchedListing;
import io.ebbfs.namenode.files.io.CorruptFileListing;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.io.OpenFileListing;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.MetadataStore;

/** The services that list files otherwise than by one directory. */
public record Listings(
    BatchedListing batches, OpenFileListing openFiles, CorruptFileListing corruptFiles) {
  public static Listings of(
      MetadataStore store, BlockService blocks, FileReadService reads, NamespaceLimits limits) {
    return new Listings(
        new BatchedListing(reads, limits),
        new OpenFileListing(store, blocks),
        new CorruptFileListing(store, blocks));
  }
}
