package io.ebbfs.namenode.store;

/** The id sequences of files, stripes, blocks and transitions. Thread-safe. */
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
