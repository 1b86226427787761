package io.ebbfs.namenode.store;

import java.util.stream.LongStream;

/** Makes changed ids for tests of other packages. */
public final class SomeIds {
  private SomeIds() {}

  /** So many files, from an id on, and a directory and a stripe. */
  public static ChangedIds of(long firstFile, int files, long directory, long stripe) {
    ChangedIds.Builder ids = new ChangedIds.Builder();
    LongStream.range(firstFile, firstFile + files).forEach(ids.files::add);
    ids.directories.add(directory);
    ids.stripes.add(stripe);
    return ids.build();
  }
}
