package io.ebbfs.workloads.metadata;

import java.util.List;

/** The rows. */
public final class RowNames {
  /** Rows of one kind of operation, and mixes. Delete follows create, whose files it deletes. */
  public static final List<String> OPERATIONS =
      List.of(
          "mkdir",
          "create",
          "delete",
          "stat",
          "statdir",
          "open",
          "list16",
          "list1000",
          "rename",
          "setPermission",
          "setReplication",
          "addBlock",
          "spotify",
          "spotify-zipf",
          "spotify-shared",
          "spotify-create5",
          "spotify-create10",
          "spotify-create20");

  /** Stats at a fixed rate while files are deleted. */
  public static final String BESIDE_DELETES = "stat-beside-deletes";

  /** What is measured on systems of their own: large directories, starts, memory, reports. */
  public static final String LARGE = "large";

  /** All that can be asked for. */
  public static final List<String> ALL =
      java.util.stream.Stream.concat(
              OPERATIONS.stream(), java.util.stream.Stream.of(BESIDE_DELETES, LARGE))
          .toList();

  private RowNames() {}
}
