package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.CreateModes;
import io.ebbfs.namenode.files.inodes.FileStatusConverter;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileAppendService;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.WriterWishes;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.BatchedRemoteIterator.BatchedEntries;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.protocol.BatchedDirectoryListing;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.protocol.CorruptFileBlocks;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfoWithStorage;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.EncryptionZone;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.HdfsLocatedFileStatus;
import org.apache.hadoop.hdfs.protocol.LastBlockWithStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.apache.hadoop.hdfs.protocol.OpenFileEntry;
import org.apache.hadoop.hdfs.protocol.OpenFilesIterator.OpenFilesType;
import org.apache.hadoop.io.EnumSetWritable;

/**
 * Serves ClientProtocol to HDFS clients: finds out who calls, and passes the call to a service. It
 * decides nothing itself. Calls about the cluster are in {@link ClusterCalls}, those about
 * snapshots in {@link SnapshotCalls}. Thread-safe.
 */
public final class ClientFrontEnd extends ErasureCodingCalls {
  private final BlockService blocks;

  public ClientFrontEnd(
      FileServices files,
      BlockService blocks,
      BlockCounts counts,
      DatanodeRegistry cluster,
      FsServerDefaults defaults,
      Caller.Superuser superuser,
      OperatorServices operators) {
    super(files, cluster, counts, defaults, new CallContext(superuser), operators);
    this.blocks = blocks;
  }

  // ---- the namespace ------------------------------------------------------------------------

  @Override
  public boolean mkdirs(String src, FsPermission masked, boolean createParent) throws IOException {
    return files.mkdirs().mkdirs(context.caller(), src, masked, createParent);
  }

  @Override
  public boolean delete(String src, boolean recursive) throws IOException {
    return files.deletions().delete(context.caller(), src, recursive);
  }

  @Override
  public boolean rename(String src, String dst) throws IOException {
    return files.renames().rename(context.caller(), src, dst);
  }

  @Override
  public void rename2(String src, String dst, Options.Rename... options) throws IOException {
    boolean overwrite = Arrays.asList(options).contains(Options.Rename.OVERWRITE);
    files.renames().rename2(context.caller(), src, dst, overwrite);
  }

  @Override
  public void setPermission(String src, FsPermission permission) throws IOException {
    files.attributes().setPermission(context.caller(), src, permission);
  }

  @Override
  public void setOwner(String src, String owner, String group) throws IOException {
    files.attributes().setOwner(context.caller(), src, nullIfEmpty(owner), nullIfEmpty(group));
  }

  private static String nullToEmpty(String text) {
    return text == null ? "" : text;
  }

  private static String nullIfEmpty(String text) {
    return text == null || text.isEmpty() ? null : text;
  }

  @Override
  public void setTimes(String src, long modified, long accessed) throws IOException {
    files.attributes().setTimes(context.caller(), src, modified, accessed);
  }

  @Override
  public boolean setReplication(String src, short replication) throws IOException {
    return files.replication().set(context.caller(), src, replication);
  }

  @Override
  public void checkAccess(String src, FsAction mode) throws IOException {
    files.inodes().checkAccess(context.caller(), src, mode);
  }

  @Override
  public HdfsFileStatus getFileInfo(String src) throws IOException {
    return files.reads().status(context.caller(), src, false, context.clientMachine());
  }

  /** There are no symbolic links. */
  @Override
  public HdfsFileStatus getFileLinkInfo(String src) throws IOException {
    return getFileInfo(src);
  }

  @Override
  public HdfsLocatedFileStatus getLocatedFileInfo(String src, boolean needBlockToken)
      throws IOException {
    return (HdfsLocatedFileStatus)
        files.reads().status(context.caller(), src, true, context.clientMachine());
  }

  @Override
  public boolean isFileClosed(String src) throws IOException {
    return !files.inodes().getFile(context.caller(), src).isUnderConstruction();
  }

  @Override
  public long getPreferredBlockSize(String src) throws IOException {
    return files.inodes().getFile(context.caller(), src).row().getBlockSizeBytes();
  }

  @Override
  public DirectoryListing getListing(String src, byte[] startAfter, boolean needLocation)
      throws IOException {
    return files
        .reads()
        .list(context.caller(), src, startAfter, needLocation, context.clientMachine());
  }

  @Override
  public BatchedDirectoryListing getBatchedListing(
      String[] paths, byte[] startAfter, boolean needLocation) throws IOException {
    return files
        .listings()
        .batches()
        .list(context.caller(), paths, startAfter, needLocation, context.clientMachine());
  }

  @Override
  public BatchedEntries<OpenFileEntry> listOpenFiles(
      long after, EnumSet<OpenFilesType> types, String path) throws IOException {
    Caller caller = context.caller();
    return operators
        .longCalls()
        .run("listOpenFiles", () -> files.listings().openFiles().list(caller, after, types, path));
  }

  @Override
  public BatchedEntries<OpenFileEntry> listOpenFiles(long after) throws IOException {
    return listOpenFiles(after, EnumSet.of(OpenFilesType.ALL_OPEN_FILES), "/");
  }

  @Override
  public CorruptFileBlocks listCorruptFileBlocks(String path, String cookie) throws IOException {
    Caller caller = context.caller();
    return operators
        .longCalls()
        .run(
            "listCorruptFileBlocks",
            () -> files.listings().corruptFiles().list(caller, path, cookie));
  }

  @Override
  public ContentSummary getContentSummary(String src) throws IOException {
    return QuotaConverter.summary(
        src,
        files.summaries().summarize(context.caller(), src),
        files.summaries().limits(context.caller(), src));
  }

  @Override
  public QuotaUsage getQuotaUsage(String src) throws IOException {
    return QuotaConverter.usage(src, files.summaries().consumption(context.caller(), src));
  }

  @Override
  public void setQuota(String src, long names, long bytes, StorageType type) throws IOException {
    files.quotas().set(context.caller(), src, names, bytes, type);
  }

  @Override
  public AclStatus getAclStatus(String src) throws IOException {
    return files.acls().status(context.caller(), src);
  }

  @Override
  public void setAcl(String src, List<AclEntry> entries) throws IOException {
    files.acls().set(context.caller(), src, entries);
  }

  @Override
  public void modifyAclEntries(String src, List<AclEntry> entries) throws IOException {
    files.acls().modify(context.caller(), src, entries);
  }

  @Override
  public void removeAclEntries(String src, List<AclEntry> entries) throws IOException {
    files.acls().removeEntries(context.caller(), src, entries);
  }

  @Override
  public void removeDefaultAcl(String src) throws IOException {
    files.acls().removeDefault(context.caller(), src);
  }

  @Override
  public void removeAcl(String src) throws IOException {
    files.acls().remove(context.caller(), src);
  }

  @Override
  public void setXAttr(String src, XAttr attribute, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    files.xattrs().set(context.caller(), src, attribute, flags);
  }

  @Override
  public void removeXAttr(String src, XAttr attribute) throws IOException {
    files.xattrs().remove(context.caller(), src, attribute);
  }

  @Override
  public List<XAttr> getXAttrs(String src, List<XAttr> wanted) throws IOException {
    return files.xattrs().get(context.caller(), src, wanted);
  }

  @Override
  public List<XAttr> listXAttrs(String src) throws IOException {
    return files.xattrs().list(context.caller(), src);
  }

  @Override
  public BlockStoragePolicy getStoragePolicy(String src) throws IOException {
    return files.policies().get(context.caller(), src);
  }

  @Override
  public BlockStoragePolicy[] getStoragePolicies() {
    return StoragePolicies.all();
  }

  @Override
  public void setStoragePolicy(String src, String policy) throws IOException {
    files.policies().set(context.caller(), src, policy);
  }

  @Override
  public void unsetStoragePolicy(String src) throws IOException {
    files.policies().unset(context.caller(), src);
  }

  @Override
  public void satisfyStoragePolicy(String src) throws IOException {
    files.satisfier().order(context.caller(), src);
  }

  @Override
  public EncryptionZone getEZForPath(String src) throws IOException {
    files.inodes().find(context.caller(), src);
    return null;
  }

  // ---- writing ------------------------------------------------------------------------------

  @Override
  public HdfsFileStatus create(
      String src,
      FsPermission masked,
      String clientName,
      EnumSetWritable<CreateFlag> flag,
      boolean createParent,
      short replication,
      long blockSize,
      CryptoProtocolVersion[] supportedVersions,
      String ecPolicyName,
      String storagePolicy)
      throws IOException {
    CreateArguments.check(flag.get(), ecPolicyName);
    FileCreationService.Request request =
        new FileCreationService.Request(
            src,
            CreateModes.of(masked),
            clientName,
            context.clientMachine(),
            flag.get(),
            createParent,
            replication,
            blockSize,
            nullToEmpty(storagePolicy),
            ecPolicyName);
    return FileStatusConverter.of(
        files.creation().create(context.caller(), request), HdfsFileStatus.EMPTY_NAME);
  }

  @Override
  public LastBlockWithStatus append(String src, String clientName, EnumSetWritable<CreateFlag> flag)
      throws IOException {
    boolean newBlock = flag.get().contains(CreateFlag.NEW_BLOCK);
    FileAppendService.Request request =
        new FileAppendService.Request(src, clientName, context.clientMachine(), newBlock);
    FileAppendService.Opened opened = files.appends().append(context.caller(), request);
    return new LastBlockWithStatus(
        opened.last() == null ? null : blocks.located(opened.last()),
        FileStatusConverter.of(opened.file(), HdfsFileStatus.EMPTY_NAME));
  }

  @Override
  public boolean truncate(String src, long newLength, String clientName) throws IOException {
    return files
        .truncation()
        .truncate(
            context.caller(),
            new TruncateService.Request(src, newLength, clientName, context.clientMachine()));
  }

  @Override
  public void concat(String target, String[] sources) throws IOException {
    files.concat().concat(context.caller(), target, List.of(sources));
  }

  @Override
  public LocatedBlock addBlock(
      String src,
      String clientName,
      ExtendedBlock previous,
      DatanodeInfo[] excludeNodes,
      long fileId,
      String[] favoredNodes,
      EnumSet<AddBlockFlag> addBlockFlags)
      throws IOException {
    return blocks.located(
        files
            .writes()
            .addBlock(
                handle(src, fileId, clientName),
                ExtendedBlock.getLocalBlock(previous),
                uuids(excludeNodes),
                WriterWishes.of(
                    favoredNodes == null ? List.of() : List.of(favoredNodes), addBlockFlags)));
  }

  private Handle handle(String src, long fileId, String clientName) {
    return new Handle(src, fileId, clientName, context.clientMachine());
  }

  private static Set<String> uuids(DatanodeID[] nodes) {
    Set<String> uuids = new HashSet<>();
    if (nodes != null) {
      for (DatanodeID node : nodes) {
        uuids.add(node.getDatanodeUuid());
      }
    }
    return uuids;
  }

  @Override
  public LocatedBlock getAdditionalDatanode(
      String src,
      long fileId,
      ExtendedBlock block,
      DatanodeInfo[] existings,
      String[] existingStorageIds,
      DatanodeInfo[] excludes,
      int numAdditionalNodes,
      String clientName)
      throws IOException {
    Set<String> excluded = uuids(excludes);
    excluded.addAll(uuids(existings));
    List<Target> targets =
        files
            .writes()
            .additionalTargets(
                handle(src, fileId, clientName),
                Set.of(existingStorageIds),
                excluded,
                numAdditionalNodes);
    List<DatanodeInfoWithStorage> all = new ArrayList<>();
    for (int i = 0; i < existings.length; i++) {
      all.add(
          new DatanodeInfoWithStorage(
              existings[i], existingStorageIds[i], typeOf(existingStorageIds[i])));
    }
    targets.forEach(target -> all.add(DatanodeInfoConverter.of(target)));
    return located(block, all);
  }

  private StorageType typeOf(String storageUuid) {
    return cluster.typeOf(storageUuid);
  }

  private static LocatedBlock located(ExtendedBlock block, List<DatanodeInfoWithStorage> places) {
    DatanodeInfoWithStorage[] array = places.toArray(DatanodeInfoWithStorage[]::new);
    String[] storages =
        places.stream().map(DatanodeInfoWithStorage::getStorageID).toArray(String[]::new);
    StorageType[] types =
        places.stream().map(DatanodeInfoWithStorage::getStorageType).toArray(StorageType[]::new);
    return new LocatedBlock(block, array, storages, types, -1, false, null);
  }

  @Override
  public void abandonBlock(ExtendedBlock block, long fileId, String src, String holder)
      throws IOException {
    files.writes().abandonBlock(handle(src, fileId, holder), ExtendedBlock.getLocalBlock(block));
  }

  @Override
  public boolean complete(String src, String clientName, ExtendedBlock last, long fileId)
      throws IOException {
    return files
        .writes()
        .complete(handle(src, fileId, clientName), ExtendedBlock.getLocalBlock(last));
  }

  @Override
  public void fsync(String src, long inodeId, String client, long lastBlockLength)
      throws IOException {
    files.writes().fsync(handle(src, inodeId, client), lastBlockLength);
  }

  @Override
  public LocatedBlock updateBlockForPipeline(ExtendedBlock block, String clientName)
      throws IOException {
    long stamp = files.writes().newGenerationStamp(ExtendedBlock.getLocalBlock(block), clientName);
    ExtendedBlock renewed = new ExtendedBlock(block);
    renewed.setGenerationStamp(stamp);
    BlockPlaces group = files.writes().groupPlaces(block.getBlockId(), clientName);
    if (group != null) {
      LocatedBlock located = blocks.located(group);
      located.getBlock().setGenerationStamp(stamp);
      return located;
    }
    return located(renewed, List.of());
  }

  @Override
  public void updatePipeline(
      String clientName,
      ExtendedBlock oldBlock,
      ExtendedBlock newBlock,
      DatanodeID[] newNodes,
      String[] newStorageIds)
      throws IOException {
    Block to = ExtendedBlock.getLocalBlock(newBlock);
    files
        .writes()
        .updatePipeline(
            clientName, ExtendedBlock.getLocalBlock(oldBlock), to, List.of(newStorageIds));
  }

  @Override
  public void renewLease(String clientName, List<String> namespaces) {
    files.leases().renew(clientName);
  }

  @Override
  public boolean recoverLease(String src, String clientName) throws IOException {
    Inode file = files.inodes().getFileToWrite(context.caller(), src);
    return !file.isUnderConstruction()
        || files
            .recovery()
            .releaseAgain(file.id(), file.row().getUnderConstruction().getClientName());
  }

  // ---- reading ------------------------------------------------------------------------------

  @Override
  public LocatedBlocks getBlockLocations(String src, long offset, long length) throws IOException {
    return files.reads().locate(context.caller(), src, offset, length, context.clientMachine());
  }

  @Override
  public void reportBadBlocks(LocatedBlock[] reported) throws IOException {
    for (LocatedBlock block : reported) {
      String[] storages = block.getStorageIDs();
      DatanodeInfo[] places = block.getLocations();
      for (int i = 0; i < places.length; i++) {
        boolean named = storages != null && i < storages.length && !storages[i].isEmpty();
        List<String> on = named ? List.of(storages[i]) : disksOf(places[i].getDatanodeUuid());
        for (String storage : on) {
          blocks.suspect(
              block.getBlock().getBlockId(),
              block.getBlock().getGenerationStamp(),
              storage,
              "a client found a wrong checksum");
        }
      }
    }
  }

  /** Stock readers name only the server, not the disk. */
  private List<String> disksOf(String serverUuid) {
    return cluster.server(serverUuid).stream()
        .flatMap(server -> server.disks().stream())
        .map(Disk::storageUuid)
        .toList();
  }
}
