package io.ebbfs.namespace;

import io.ebbfs.namespace.store.MetadataStore;

/** The sequences of ids that files, blocks and stripes draw from. Thread-safe. */
public record IdGenerators(
    IdGenerator inodes, IdGenerator blocks, IdGenerator generationStamps, IdGenerator transitions) {
  public static IdGenerators of(MetadataStore store) {
    return new IdGenerators(
        IdGenerator.inodes(store),
        IdGenerator.blocks(store),
        IdGenerator.generationStamps(store),
        IdGenerator.transitions(store));
  }
}
