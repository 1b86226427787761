package io.ebbfs.workloads.metadata;

import java.util.List;

/** The rows, in the order in which they are measured. */
public final class RowNames {
  /** Delete follows create, whose files it deletes. */
  public static final List<String> ALL =
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
          "setReplication");

  private RowNames() {}
}
