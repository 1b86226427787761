package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import io.ebbfs.protocol.proto.AppendProtos.OpenBlockProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.io.EnumSetWritable;

/**
 * The two files of each lane at the namenode: how they are found, created and read. Only stock
 * calls of HDFS. Thread-safe.
 */
final class LaneFiles {
  private static final String LANE = "append.lane";
  private static final String SEALED = "append.sealed";

  /** A ledger that nobody asks for any more is removed after this time. */
  private static final long LEDGER_KEPT_MILLIS = 3_600_000;

  private final DistributedFileSystem files;
  private final ClientProtocol namenode;
  private final String path;
  private final String directory;
  private final HdfsFileStatus file;

  /**
   * @param path the file that is appended to
   */
  LaneFiles(DistributedFileSystem files, String path) throws IOException {
    this.files = files;
    this.namenode = files.getClient().getNamenode();
    this.path = path;
    this.directory = path.substring(0, path.lastIndexOf('/') + 1);
    this.file = requireFile();
  }

  /** The status of the file, which must still be the one that was opened. */
  HdfsFileStatus requireFile() throws IOException {
    HdfsFileStatus found = namenode.getFileInfo(path);
    if (found == null || found.isDirectory()) {
      throw new AppendException(
          found == null
              ? "the file %s that records are appended to does not exist any more".formatted(path)
              : "%s is a directory; records are appended to a file".formatted(path));
    }
    if (file != null && found.getFileId() != file.getFileId()) {
      throw new AppendException(
          "%s is another file than the one that records are appended to; open it anew"
              .formatted(path));
    }
    return found;
  }

  String path() {
    return path;
  }

  ClientProtocol namenode() {
    return namenode;
  }

  /** All writers of the file hold the leases of its lanes together, under this name. */
  String leaseHolder() {
    return "EBBFS_APPEND_" + file.getFileId();
  }

  void renewLease() throws IOException {
    namenode.renewLease(leaseHolder(), List.of());
  }

  // ---- finding lanes --------------------------------------------------------------------------

  /** The ledgers of all slots, or of one slot, by their names. */
  List<LaneName> ledgers(Optional<Integer> slot) throws IOException {
    return statuses(slot).stream().map(this::nameOf).flatMap(Optional::stream).toList();
  }

  private Optional<LaneName> nameOf(HdfsFileStatus status) {
    String name = name();
    return LaneName.ofLedger(directory, name, file.getFileId(), status.getLocalName());
  }

  private String name() {
    return path.substring(directory.length());
  }

  private List<HdfsFileStatus> statuses(Optional<Integer> slot) throws IOException {
    String prefix =
        LaneName.ledgers(name(), file.getFileId())
            + slot.map(number -> "%02d-".formatted(number)).orElse("");
    List<HdfsFileStatus> found = new ArrayList<>();
    byte[] after = prefix.getBytes(StandardCharsets.UTF_8);
    for (; ; ) {
      DirectoryListing page = namenode.getListing(directory, after, false);
      if (page == null) {
        throw new AppendException("the directory %s does not exist".formatted(directory));
      }
      for (HdfsFileStatus status : page.getPartialListing()) {
        if (!status.getLocalName().startsWith(prefix)) {
          return found;
        }
        found.add(status);
      }
      if (!page.hasMore()) {
        return found;
      }
      after = page.getLastName();
    }
  }

  /** The newest ledger of the slot. */
  Optional<LaneName> newest(int slot) throws IOException {
    return ledgers(Optional.of(slot)).stream().max(Comparator.comparingLong(LaneName::generation));
  }

  LaneName first(int slot) {
    return new LaneName(directory, name(), file.getFileId(), slot, System.currentTimeMillis());
  }

  // ---- the attributes of a ledger -------------------------------------------------------------

  /** The lane; empty if its creator has not told it yet. A lane without a block was abandoned. */
  Optional<LaneProto> lane(LaneName name) throws IOException {
    Optional<byte[]> value = attribute(name, LANE);
    return value.isEmpty()
        ? Optional.empty()
        : Optional.of(LaneProto.parser().parsePartialFrom(value.get()));
  }

  /** True if this call has told the lane, false if it was abandoned before. */
  private boolean tell(LaneName name, LaneProto lane) throws IOException {
    return setOnce(name, LANE, lane.toByteArray());
  }

  /** Gives up a lane whose creator does not go on. Its creator learns of it. */
  void abandon(LaneName name) throws IOException {
    setOnce(name, LANE, new byte[0]);
  }

  /** The bytes of the block that are part of the file. */
  Optional<Long> sealedBytes(LaneName name) throws IOException {
    return attribute(name, SEALED)
        .map(value -> Long.parseLong(new String(value, StandardCharsets.UTF_8)));
  }

  void setSealedBytes(LaneName name, long bytes) throws IOException {
    setOnce(name, SEALED, Long.toString(bytes).getBytes(StandardCharsets.UTF_8));
  }

  private Optional<byte[]> attribute(LaneName name, String attribute) throws IOException {
    for (XAttr found : namenode.getXAttrs(name.ledger(), null)) {
      if (found.getNameSpace() == XAttr.NameSpace.USER && found.getName().equals(attribute)) {
        return Optional.of(found.getValue() == null ? new byte[0] : found.getValue());
      }
    }
    return Optional.empty();
  }

  /** True if the attribute has this value now. */
  private boolean setOnce(LaneName name, String attribute, byte[] value) throws IOException {
    XAttr wanted =
        new XAttr.Builder()
            .setNameSpace(XAttr.NameSpace.USER)
            .setName(attribute)
            .setValue(value)
            .build();
    try {
      namenode.setXAttr(name.ledger(), wanted, EnumSet.of(XAttrSetFlag.CREATE));
      return true;
    } catch (IOException failure) {
      Optional<byte[]> there = attribute(name, attribute);
      if (there.isEmpty()) {
        throw failure;
      }
      return Arrays.equals(there.get(), value);
    }
  }

  // ---- creating a lane ------------------------------------------------------------------------

  /** Creates the lane. Empty if another writer creates it, or has given it up. */
  Optional<LaneProto> create(LaneName name, int idleMillis) throws IOException {
    if (!createFile(name.ledger())) {
      return Optional.empty();
    }
    OpenBlockProto ledger = addBlock(name.ledger());
    if (!createFile(name.block())) {
      return Optional.empty();
    }
    LaneProto lane =
        LaneProto.newBuilder()
            .setBlock(addBlock(name.block()))
            .setLedger(ledger)
            .setCapacityBytes(file.getBlockSize())
            .setIdleMillis(idleMillis)
            .build();
    if (!tell(name, lane)) {
      namenode.delete(name.block(), false);
      return Optional.empty();
    }
    removeOldLedgers(name);
    return Optional.of(lane);
  }

  private boolean createFile(String name) throws IOException {
    try {
      namenode.create(
          name,
          file.getPermission(),
          leaseHolder(),
          new EnumSetWritable<>(EnumSet.of(CreateFlag.CREATE)),
          false,
          file.getReplication(),
          file.getBlockSize(),
          CryptoProtocolVersion.supported(),
          null,
          null);
      return true;
    } catch (IOException failure) {
      if (namenode.getFileInfo(name) == null) {
        throw failure;
      }
      return false;
    }
  }

  private OpenBlockProto addBlock(String name) throws IOException {
    HdfsFileStatus status = namenode.getFileInfo(name);
    if (status == null) {
      throw new IOException("%s was removed while it was created".formatted(name));
    }
    LocatedBlock block =
        namenode.addBlock(
            name,
            leaseHolder(),
            null,
            null,
            status.getFileId(),
            null,
            EnumSet.noneOf(AddBlockFlag.class));
    OpenBlockProto.Builder open =
        OpenBlockProto.newBuilder().setBlock(PBHelperClient.convert(block.getBlock()));
    for (DatanodeInfo target : block.getLocations()) {
      open.addTargets(PBHelperClient.convert(target));
    }
    return open.addAllStorageUuids(Arrays.asList(block.getStorageIDs())).build();
  }

  private void removeOldLedgers(LaneName newest) throws IOException {
    List<HdfsFileStatus> all = statuses(Optional.of(newest.slot()));
    long now = all.stream().mapToLong(HdfsFileStatus::getModificationTime).max().orElse(0);
    for (HdfsFileStatus status : all) {
      Optional<LaneName> old = nameOf(status);
      if (old.isPresent()
          && old.get().generation() < newest.generation()
          && status.getModificationTime() < now - LEDGER_KEPT_MILLIS) {
        namenode.delete(old.get().ledger(), false);
      }
    }
  }

  /** Removes the ledgers. No writer may need them. */
  void removeLedgers() throws IOException {
    for (LaneName name : ledgers(Optional.empty())) {
      namenode.delete(name.ledger(), false);
    }
  }

  // ---- reading a ledger -----------------------------------------------------------------------

  /** The entries of a closed ledger. */
  LaneLedger read(LaneName name) throws IOException {
    try (var in = files.open(new Path(name.ledger()))) {
      return LaneLedger.decode(in.readAllBytes());
    }
  }

  /** The file, created if it does not exist. */
  static String require(DistributedFileSystem files, Path path, AppendOptions options)
      throws IOException {
    Path whole = path.makeQualified(files.getUri(), files.getWorkingDirectory());
    String name = whole.toUri().getPath();
    if (files.getClient().getFileInfo(name) == null) {
      try {
        files
            .create(
                whole,
                FsPermission.getFileDefault(),
                EnumSet.of(CreateFlag.CREATE),
                4096,
                (short)
                    (options.replication() == 0
                        ? files.getDefaultReplication(whole)
                        : options.replication()),
                options.blockSizeBytes() == 0
                    ? files.getDefaultBlockSize(whole)
                    : options.blockSizeBytes(),
                null)
            .close();
      } catch (IOException failure) {
        if (files.getClient().getFileInfo(name) == null) {
          throw failure;
        }
      }
    }
    return name;
  }
}
