package io.ebbfs.manager.view;

import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import java.util.Map;
import java.util.function.LongFunction;

/** Finds the pin that holds for a file: the nearest one wins. Pure functions. */
final class PinResolver {
  /** Directories that were read at different times may form a circle. */
  private static final int MOST_DEPTH = 10_000;

  private PinResolver() {}

  /**
   * @param directories gives a directory by its id, or null
   */
  static Pin of(FileStatusProto file, LongFunction<DirectoryStatusProto> directories) {
    return file.hasPin() ? Pin.of(true, file.getPin()) : below(file.getParentId(), directories);
  }

  /**
   * The same for many files, whose directories are looked at once.
   *
   * @param known what holds below the directories that were asked for before; receives more
   */
  static Pin of(
      FileStatusProto file, LongFunction<DirectoryStatusProto> directories, Map<Long, Pin> known) {
    return file.hasPin()
        ? Pin.of(true, file.getPin())
        : known.computeIfAbsent(file.getParentId(), parent -> below(parent, directories));
  }

  /** The pin that holds for the entries of a directory. */
  static Pin below(long directoryId, LongFunction<DirectoryStatusProto> directories) {
    long id = directoryId;
    for (int depth = 0; depth < MOST_DEPTH; depth++) {
      DirectoryStatusProto directory = directories.apply(id);
      if (directory == null) {
        return Pin.NONE;
      }
      if (directory.hasPin()) {
        return Pin.of(true, directory.getPin());
      }
      id = directory.getParentId();
    }
    return Pin.NONE;
  }
}
