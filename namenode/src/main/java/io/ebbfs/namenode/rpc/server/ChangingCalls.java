package io.ebbfs.namenode.rpc.server;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The calls of ClientProtocol that change files or directories, by the names of their methods. */
public final class ChangingCalls {
  /** Calls that change rows of the namespace alone. */
  public static final Set<String> OF_NAMESPACE =
      Set.of(
          "mkdirs",
          "rename",
          "rename2",
          "delete",
          "setPermission",
          "setOwner",
          "setTimes",
          "setQuota",
          "setStoragePolicy",
          "unsetStoragePolicy",
          "setXAttr",
          "removeXAttr",
          "modifyAclEntries",
          "removeAclEntries",
          "removeDefaultAcl",
          "removeAcl",
          "setAcl");

  /**
   * Calls of a writer. Some of them end at the leader: because another writer's lease may have
   * ended, or because a chunk server may have reported a replica since.
   */
  public static final Set<String> OF_WRITERS =
      Set.of(
          "create",
          "append",
          "addBlock",
          "getAdditionalDatanode",
          "abandonBlock",
          "updateBlockForPipeline",
          "updatePipeline",
          "fsync",
          "complete");

  private static final Set<String> OTHERS =
      Set.of(
          "recoverLease",
          "concat",
          "truncate",
          "setReplication",
          "satisfyStoragePolicy",
          "allowSnapshot",
          "disallowSnapshot",
          "createSnapshot",
          "deleteSnapshot",
          "renameSnapshot",
          "setErasureCodingPolicy",
          "unsetErasureCodingPolicy",
          "enableErasureCodingPolicy",
          "disableErasureCodingPolicy");

  /** These and all others, such as those of snapshots. */
  public static final Set<String> ALL =
      Stream.of(OF_NAMESPACE, OF_WRITERS, OTHERS)
          .flatMap(Set::stream)
          .collect(Collectors.toUnmodifiableSet());

  private ChangingCalls() {}
}
