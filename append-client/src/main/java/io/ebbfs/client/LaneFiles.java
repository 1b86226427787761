package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.io.EnumSetWritable;

/**
 * The two files of each lane at the namenode, and the files of writers with ids of their own: how
 * they are found, created and read. Only stock calls of HDFS. Thread-safe.
 */
final class LaneFiles {
  private static final String LANE = "append.lane";
  private static final String SEALED = "append.sealed";

  /** A ledger that nobody asks for any more is removed after this time. */
  private static final long LEDGER_KEPT_MILLIS = 3_600_000;

  /** So few that the lane whose creator removes them gets its first batch soon. */
  private static final int MOST_LEDGERS_REMOVED = 50;

  private final DistributedFileSystem files;
  private final ClientProtocol namenode;
  private final String path;
  private final String directory;
  private final HdfsFileStatus file;

  /**
   * @param path the file that is appended to
   */
  LaneFiles(DistributedFileSystem files, String path) throws IOException {
    this(files, files.getClient().getNamenode(), path);
  }

  /** For a test that wants to know what the namenode is asked. */
  LaneFiles(DistributedFileSystem files, ClientProtocol namenode, String path) throws IOException {
    this.files = files;
    this.namenode = namenode;
    this.path = path;
    this.directory = path.substring(0, path.lastIndexOf('/') + 1);
    this.file = requireFile();
    AppendedFile.refuseGroups(path, file);
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
    return names(LaneName.ledgers(file.getFileId()), ledgerPrefix(slot));
  }

  /** The lanes of all slots, or of one slot, whose blocks are not part of the file yet. */
  List<LaneName> blocks(Optional<Integer> slot) throws IOException {
    String all = LaneName.blocks(file.getFileId());
    return names(all, all + slotOf(slot));
  }

  private List<LaneName> names(String all, String prefix) throws IOException {
    return statuses(prefix).stream()
        .map(status -> nameOf(all, status))
        .flatMap(Optional::stream)
        .toList();
  }

  private Optional<LaneName> nameOf(String prefix, HdfsFileStatus status) {
    return LaneName.of(directory, prefix, file.getFileId(), status.getLocalName());
  }

  private String ledgerPrefix(Optional<Integer> slot) {
    return LaneName.ledgers(file.getFileId()) + slotOf(slot);
  }

  private static String slotOf(Optional<Integer> slot) {
    return slot.map(LaneName::slotPrefix).orElse("");
  }

  private List<HdfsFileStatus> statuses(String prefix) throws IOException {
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

  LaneName first(int slot) {
    return new LaneName(directory, file.getFileId(), slot, System.currentTimeMillis());
  }

  /** The files of the writers with ids of their own, or of one of them. */
  List<WriterName> writers(Optional<UUID> writer) throws IOException {
    return statuses(WriterName.prefix(file.getFileId(), writer)).stream()
        .map(status -> WriterName.of(directory, file.getFileId(), status.getLocalName()))
        .flatMap(Optional::stream)
        .toList();
  }

  WriterName firstNameOf(UUID writer) {
    return WriterName.first(directory, file.getFileId(), writer);
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
  boolean tell(LaneName name, LaneProto lane) throws IOException {
    return setOnce(name, LANE, lane.toByteArray());
  }

  /**
   * Gives up a lane whose creator does not go on. Its creator learns of it.
   *
   * @return false if the lane was told before
   */
  boolean abandon(LaneName name) throws IOException {
    return setOnce(name, LANE, new byte[0]);
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

  // ---- creating and removing files ------------------------------------------------------------

  /** True if this call has created the file, false if it is there already. */
  boolean createFile(String name) throws IOException {
    try {
      namenode.create(
          name,
          file.getPermission(),
          leaseHolder(),
          new EnumSetWritable<>(AppendedFile.FLAGS),
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

  /** As {@link #createFile}, for a file that gets no block: nobody writes to it any more. */
  boolean createEmptyFile(String name) throws IOException {
    if (!createFile(name)) {
      return false;
    }
    namenode.complete(name, leaseHolder(), null, fileIdOf(name));
    return true;
  }

  /** False if there is no file with the old name. The new name must be one that nobody uses. */
  boolean rename(String from, String to) throws IOException {
    try {
      namenode.rename2(from, to);
      return true;
    } catch (IOException failure) {
      if (namenode.getFileInfo(from) != null) {
        throw failure;
      }
      return false;
    }
  }

  /** Adds the only block to a file of a lane, on other servers than the excluded ones. */
  LocatedBlock addBlock(String name, DatanodeInfo[] excluded) throws IOException {
    LocatedBlock block =
        namenode.addBlock(
            name,
            leaseHolder(),
            null,
            excluded,
            fileIdOf(name),
            null,
            EnumSet.noneOf(AddBlockFlag.class));
    if (block.isStriped()) {
      throw new AppendException(
          "%s got a block group; record appends need replicated blocks".formatted(name));
    }
    return block;
  }

  /** Takes a block back that was never written. */
  void abandonBlock(String name, LocatedBlock block) throws IOException {
    namenode.abandonBlock(block.getBlock(), fileIdOf(name), name, leaseHolder());
  }

  private long fileIdOf(String name) throws IOException {
    HdfsFileStatus status = namenode.getFileInfo(name);
    if (status == null) {
      throw new IOException("%s was removed while it was created".formatted(name));
    }
    return status.getFileId();
  }

  long blockSizeBytes() {
    return file.getBlockSize();
  }

  /**
   * Removes old ledgers of the slot of lanes that are wholly in the file, except those that tell
   * which records of a writer with an id of its own are stored. Another call removes more if there
   * are many.
   */
  void removeOldLedgers(LaneName newest) throws IOException {
    List<LaneName> settled = new ArrayList<>();
    for (LaneName name : oldLedgers(newest)) {
      if (isSettled(name)) {
        settled.add(name);
      }
    }
    // The writers are listed again after the lanes were sealed: who tells a lane later, stores
    // nothing there.
    Set<LaneName> needed = settled.isEmpty() ? Set.of() : toldLanes();
    for (LaneName name : settled) {
      if (!needed.contains(name)) {
        namenode.delete(name.ledger(), false);
      }
    }
  }

  /** The oldest ledgers that no writer needs. */
  private List<LaneName> oldLedgers(LaneName newest) throws IOException {
    List<HdfsFileStatus> all = statuses(ledgerPrefix(Optional.of(newest.slot())));
    long now = all.stream().mapToLong(HdfsFileStatus::getModificationTime).max().orElse(0);
    List<LaneName> found = new ArrayList<>();
    for (HdfsFileStatus status : all) {
      Optional<LaneName> old = nameOf(LaneName.ledgers(file.getFileId()), status);
      if (old.isPresent()
          && old.get().generation() < newest.generation()
          && status.getModificationTime() < now - LEDGER_KEPT_MILLIS) {
        found.add(old.get());
      }
    }
    Set<LaneName> needed = found.isEmpty() ? Set.of() : toldLanes();
    return found.stream()
        .filter(name -> !needed.contains(name))
        .limit(MOST_LEDGERS_REMOVED)
        .toList();
  }

  /** The lanes that the files of writers with ids of their own tell. */
  private Set<LaneName> toldLanes() throws IOException {
    return writers(Optional.empty()).stream()
        .map(WriterName::lane)
        .flatMap(Optional::stream)
        .collect(Collectors.toSet());
  }

  /** True if nothing is left of the lane: a writer has taken it back, or has removed its ledger. */
  boolean isGone(LaneName name) throws IOException {
    return namenode.getFileInfo(name.ledger()) == null
        && namenode.getFileInfo(name.block()) == null;
  }

  /** True if the records of the lane are in the file. */
  private boolean isSettled(LaneName name) throws IOException {
    return sealedBytes(name).isPresent() && namenode.getFileInfo(name.block()) == null;
  }

  /** Removes all files beside the file: the ledgers, and what is known of the ids of writers. */
  void removeAll() throws IOException {
    // The writers are listed before the lanes are looked at: a writer that tells a lane later has
    // another name by then, and so keeps its id.
    List<WriterName> writers = writers(Optional.empty());
    List<LaneName> ledgers = ledgers(Optional.empty());
    for (LaneName name : ledgers) {
      if (!isSettled(name)) {
        throw new AppendException(
            "a writer still appends to %s, in the lane of %s; close all writers, and finish again"
                .formatted(path, name.ledger()));
      }
    }
    // First, so that no file of a writer tells a ledger that is gone.
    for (WriterName writer : writers) {
      namenode.delete(writer.path(), false);
    }
    Set<LaneName> needed = toldLanes();
    for (LaneName name : ledgers) {
      if (!needed.contains(name)) {
        namenode.delete(name.ledger(), false);
      }
    }
  }

  /** Fails if a block of a lane has no ledger, so that nobody knows which records are whole. */
  void refuseLostLedgers() throws IOException {
    List<LaneName> blocks = blocks(Optional.empty());
    List<LaneName> known = ledgers(Optional.empty());
    for (LaneName name : blocks) {
      if (!known.contains(name) && namenode.getFileInfo(name.block()) != null) {
        throw new AppendException(
            ("%s may have records of %s, and its ledger %s is gone; restore the ledger, or read the "
                    + "block and then delete it")
                .formatted(name.block(), path, name.ledger()));
      }
    }
  }

  // ---- reading a ledger -----------------------------------------------------------------------

  /** The entries of a closed ledger. Fails if not all of its bytes can be read yet. */
  LaneLedger read(LaneName name) throws IOException {
    HdfsFileStatus status = namenode.getFileInfo(name.ledger());
    byte[] bytes;
    try (var in = files.open(new Path(name.ledger()))) {
      bytes = in.readAllBytes();
    }
    if (status == null || status.getLen() != bytes.length) {
      throw new IOException(
          "%d bytes of %s could be read, and it has %s"
              .formatted(
                  bytes.length, name.ledger(), status == null ? "no inode" : status.getLen()));
    }
    return LaneLedger.decode(bytes);
  }

  /** As {@link #read}, for a sealed lane. Fails if the ledger does not know each sealed byte. */
  LaneLedger readSealed(LaneName name, long sealedBytes) throws IOException {
    LaneLedger ledger = read(name);
    long known = ledger.wholeBytes(Long.MAX_VALUE);
    if (known < sealedBytes) {
      throw new IOException(
          ("%d bytes of a lane are part of %s, and its ledger %s knows %d of them; if that stays "
                  + "so, the ledger is damaged or all servers of it lost power: look for the last "
                  + "records of the writer in the file, and append with another id")
              .formatted(sealedBytes, path, name.ledger(), known));
    }
    return ledger;
  }
}
