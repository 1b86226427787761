package io.ebbfs.namenode.files;

import static java.time.temporal.ChronoUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.xattrs.PinOrders;
import io.ebbfs.namenode.files.xattrs.XAttrLimits;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.CodingProtos.PinRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.PinResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ReportHeatRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ChangeRow;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.hdfs.XAttrHelper;
import org.apache.hadoop.hdfs.protocol.XAttrNotFoundException;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rows of extended attributes; {@code XAttrsAsHdfsTest} compares their calls with HDFS's. */
class XAttrServiceTest {
  private static final byte[] CLIENT = "sixteen bytes id".getBytes();
  private static final EnumSet<XAttrSetFlag> CREATE = EnumSet.of(XAttrSetFlag.CREATE);
  private static final EnumSet<XAttrSetFlag> BOTH = EnumSet.allOf(XAttrSetFlag.class);

  private NamespaceFixture real;
  private boolean readOnly;

  MetadataStore store() {
    return new InMemoryStore();
  }

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(store());
    real.mkdirs("/d");
    real.touch("/d/f");
  }

  private void set(String path, String name, String value) throws IOException {
    real.xattrs.set(real.root(), path, attribute(name, value), BOTH);
  }

  private void remove(String path, String name) throws IOException {
    real.xattrs.remove(real.root(), path, XAttrHelper.buildXAttr(name));
  }

  private static XAttr attribute(String name, String value) {
    return XAttrHelper.buildXAttr(name, value.getBytes());
  }

  private List<String> names(String path) throws IOException {
    return real.xattrs.list(real.root(), path).stream().map(XAttrHelper::getPrefixedName).toList();
  }

  private Inode inode(String path) throws IOException {
    return real.inodes.get(real.root(), path);
  }

  // ---- repetitions
  // --------------------------------------------------------------------------------

  private static void call(int callId, boolean repeated, ClientCall.Work<Void> work)
      throws IOException {
    ClientCall.run(ClientCall.of(CLIENT, callId, "ann", repeated).orElseThrow(), work);
  }

  private Void create(String name) throws IOException {
    real.xattrs.set(real.root(), "/d/f", attribute(name, "1"), CREATE);
    return null;
  }

  private Void removed(String name) throws IOException {
    remove("/d/f", name);
    return null;
  }

  @Test
  void aRepeatedSetThatMustCreateSucceeds() throws IOException {
    call(1, false, () -> create("user.a"));
    call(1, true, () -> create("user.a"));
    assertThatThrownBy(() -> call(2, true, () -> create("user.a")))
        .hasMessageContaining("already exists");
  }

  @Test
  void aRepeatedRemovalRemovesNothingElse() throws IOException {
    set("/d/f", "user.a", "1");
    call(1, false, () -> removed("user.a"));
    set("/d/f", "user.a", "2");
    call(1, true, () -> removed("user.a"));
    assertThat(names("/d/f")).containsExactly("user.a");
  }

  // ---- rows
  // ---------------------------------------------------------------------------------------

  @Test
  void theLastAttributeTakesTheRowAway() throws IOException {
    set("/d/f", "user.a", "1");
    set("/d/f", "user.b", "1");
    remove("/d/f", "user.a");
    assertThat(real.rows(Tables.XATTR)).isEqualTo(1);
    assertThat(inode("/d/f").row().getExtendedAttributes()).isTrue();
    remove("/d/f", "user.b");
    assertThat(real.rows(Tables.XATTR)).isZero();
    assertThat(inode("/d/f").row().getExtendedAttributes()).isFalse();
  }

  @Test
  void attributesMoveWithTheirInode() throws IOException {
    set("/d/f", "user.a", "1");
    set("/d", "user.ebbfs.pin", "fast");
    real.renames.rename2(real.root(), "/d", "/e", false);
    assertThat(names("/e/f")).containsExactly("user.a");
    assertThat(names("/e")).containsExactly("user.ebbfs.pin");
  }

  @Test
  void attributesGoWithTheirInode() throws IOException {
    set("/d", "user.a", "1");
    set("/d/f", "user.a", "1");
    real.touch("/replaced");
    set("/replaced", "user.a", "1");
    real.renames.rename2(real.root(), "/d/f", "/replaced", true);
    assertThat(real.rows(Tables.XATTR)).isEqualTo(2);
    real.touch(real.root(), "/replaced", true);
    assertThat(real.rows(Tables.XATTR)).isEqualTo(1);
    real.deletions.delete(real.root(), "/d", true);
    real.reaper.reapAll();
    assertThat(real.rows(Tables.XATTR)).isZero();
  }

  // ---- pins
  // ---------------------------------------------------------------------------------------

  @Test
  void aPinIsAFieldOfTheInodeAndNeedsNoOtherRow() throws IOException {
    set("/d", "user.ebbfs.pin", "compact");
    assertThat(inode("/d").row().getPin()).isEqualTo(PinProto.COMPACT);
    assertThat(real.rows(Tables.XATTR)).isZero();
    set("/d", "user.a", "1");
    set("/d", "user.ebbfs.pin", "replicas");
    assertThat(names("/d")).containsExactly("user.a", "user.ebbfs.pin");
    remove("/d", "user.ebbfs.pin");
    assertThat(inode("/d").row().hasPin()).isFalse();
    assertThat(names("/d")).containsExactly("user.a");
  }

  @Test
  void aPinIsOneOfTheAttributesThatAreCounted() throws IOException {
    for (int i = 0; i < 31; i++) {
      set("/d", "user." + i, "1");
    }
    set("/d", "user.ebbfs.pin", "fast");
    set("/d", "user.ebbfs.pin", "compact");
    assertThatThrownBy(() -> set("/d", "user.more", "1")).hasMessageContaining("limit of 32");
    remove("/d", "user.0");
    set("/d", "user.more", "1");
  }

  private PinResponseProto order(String path, PinProto pin, boolean dryRun) throws IOException {
    PinRequestProto.Builder request = PinRequestProto.newBuilder().setPath(path).setDryRun(dryRun);
    return new PinOrders(real.store, () -> readOnly)
        .pin((pin == null ? request : request.setPin(pin)).build());
  }

  @Test
  void anOperatorPinsAndUnpinsAsOftenAsTheOrderComes() throws IOException {
    assertThat(order("/d", PinProto.FAST, true).hasBefore()).isFalse();
    assertThat(names("/d")).isEmpty();
    long before = told(inode("/d").id());
    order("/d", PinProto.FAST, false);
    order("/d", PinProto.FAST, false);
    assertThat(names("/d")).containsExactly("user.ebbfs.pin");
    assertThat(told(inode("/d").id())).isEqualTo(before + 1);
    set("/d", "user.a", "1");
    assertThat(order("/d/f", PinProto.REPLICAS, false).hasBefore()).isFalse();
    assertThat(order("/d", null, false).getBefore()).isEqualTo(PinProto.FAST);
    assertThat(order("/d", null, false).hasBefore()).isFalse();
    assertThat(names("/d")).containsExactly("user.a");
    assertThat(inode("/d/f").row().getPin()).isEqualTo(PinProto.REPLICAS);
  }

  @Test
  void anOrderInSafeModeIsRefusedUnlessItIsADryRun() throws IOException {
    order("/d", PinProto.FAST, false);
    readOnly = true;
    assertThat(order("/d", PinProto.COMPACT, false).getRefusal()).contains("safemode leave");
    assertThat(order("/d", null, false).getRefusal()).contains("safemode leave");
    assertThat(order("/d", null, true).getBefore()).isEqualTo(PinProto.FAST);
    assertThat(inode("/d").row().getPin()).isEqualTo(PinProto.FAST);
    readOnly = false;
    assertThat(order("/d", null, false).hasRefusal()).isFalse();
    assertThat(inode("/d").row().hasPin()).isFalse();
  }

  @Test
  void anOrderForNoFileIsRefusedWithTheRemedy() throws IOException {
    for (String path : List.of("/none", "/d/f/below", "d", "/.reserved/.inodes/99999")) {
      assertThat(order(path, PinProto.FAST, false).getRefusal())
          .contains(path.split("/")[0], "name");
    }
    assertThat(order("/", PinProto.FAST, false).getRefusal()).contains("directories below");
  }

  @Test
  void theChangeStreamTellsOfThePinOfADirectory() throws IOException {
    long before = told(inode("/d").id());
    set("/d", "user.a", "1");
    assertThat(told(inode("/d").id())).isEqualTo(before);
    set("/d", "user.ebbfs.pin", "fast");
    assertThat(told(inode("/d").id())).isEqualTo(before + 1);
    set("/d", "user.ebbfs.pin", "fast");
    assertThat(told(inode("/d").id())).isEqualTo(before + 1);
    remove("/d", "user.ebbfs.pin");
    assertThat(told(inode("/d").id())).isEqualTo(before + 2);
  }

  private long told(long directoryId) throws IOException {
    return real.store.scanAll(Tables.CHANGE, null, 1_000).stream()
        .map(row -> (ChangeRow) row.value())
        .filter(row -> row.getPinnedIdsList().contains(directoryId))
        .count();
  }

  @Test
  void whoMayNotWriteADirectoryMayNotPinIt() {
    assertThatThrownBy(
            () ->
                real.xattrs.set(real.user("bob"), "/d", attribute("user.ebbfs.pin", "fast"), BOTH))
        .hasMessageContaining("Permission denied: user=bob, access=WRITE");
  }

  // ---- how a file is stored
  // -----------------------------------------------------------------------

  private String one(String path, String name) throws IOException {
    List<XAttr> found =
        real.xattrs.get(real.root(), path, List.of(XAttrHelper.buildXAttr("user.ebbfs." + name)));
    return new String(found.get(0).getValue());
  }

  private void block(long index, long stripe) throws IOException {
    long file = inode("/d/f").id();
    BlockRow.Builder block =
        BlockRow.newBuilder()
            .setBlockId(100 + index)
            .setGenerationStamp(1)
            .setLengthBytes(1)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(1);
    if (stripe != 0) {
      block.setStripeId(stripe);
    }
    put(Tables.BLOCK, Tables.block(file, index), block.build());
  }

  private void stripe(long id, String code) throws IOException {
    put(
        Tables.STRIPE,
        Tables.stripe(id),
        StripeRow.newBuilder()
            .setId(id)
            .setCode(code)
            .setUnitLengthBytes(1)
            .setGeneration(1)
            .setPolicy("p")
            .setCreatedMillis(1)
            .build());
  }

  private <V extends MessageLite> void put(Table<V> table, Key key, V row) throws IOException {
    real.store.transact(
        key.partition(),
        transaction -> {
          transaction.put(table, key, row);
          return null;
        });
  }

  @Test
  void aFileTellsHowItIsStored() throws IOException {
    assertThat(one("/d/f", "state")).isEqualTo("replicas");
    assertThatThrownBy(() -> one("/d/f", "code")).isInstanceOf(XAttrNotFoundException.class);
    assertThatThrownBy(() -> one("/d", "state")).isInstanceOf(XAttrNotFoundException.class);
    block(0, 0);
    assertThat(one("/d/f", "state")).isEqualTo("replicas");
    stripe(7, "PC(2x5)");
    block(1, 7);
    assertThat(one("/d/f", "state")).isEqualTo("partly encoded");
    stripe(8, "LRC(12,2,2)");
    block(0, 8);
    assertThat(one("/d/f", "state")).isEqualTo("encoded");
    assertThat(one("/d/f", "code")).isEqualTo("LRC(12,2,2),PC(2x5)");
  }

  /** A copy of all attributes would try to set it. */
  @Test
  void howAFileIsStoredIsNotAmongAllItsAttributes() throws IOException {
    assertThat(real.xattrs.get(real.root(), "/d/f", List.of())).isEmpty();
    assertThat(names("/d/f")).isEmpty();
  }

  // ---- heat -------------------------------------------------------------------------------------

  private static ReportHeatRequestProto.Builder report(double files, double directories) {
    return ReportHeatRequestProto.newBuilder()
        .setOtherFilesAtMost((float) files)
        .setOtherDirectoriesAtMost((float) directories)
        .setValidMillis(60_000);
  }

  @Test
  void filesAndDirectoriesTellTheHeatThatTheManagerHasReported() throws IOException {
    assertThat(one("/d/f", "heat")).as("nobody has reported").isEqualTo("unknown");
    long file = inode("/d/f").id();
    long directory = inode("/d").id();
    real.heat.accept(
        report(0, 0)
            .addInodeIds(file)
            .addReads(12.3f)
            .addInodeIds(directory)
            .addReads(1234.4f)
            .build());
    String time = " as of " + Instant.ofEpochMilli(real.clock.millis()).truncatedTo(SECONDS);
    assertThat(one("/d/f", "heat")).isEqualTo("12.30" + time);
    assertThat(one("/d", "heat")).isEqualTo("1234" + time);
    assertThat(one("/", "heat")).as("nothing was read").isEqualTo("0" + time);
    real.clock.advance(60_000);
    assertThat(one("/d/f", "heat")).as("the time of the report").isEqualTo("12.30" + time);
    real.clock.advance(1);
    assertThat(one("/d/f", "heat")).as("the manager is down").isEqualTo("unknown");
    assertThat(one("/", "heat")).isEqualTo("unknown");
  }

  /** What the report has no room for is not told to be 0. */
  @Test
  void whatIsNotNamedHasAtMostSoManyReads() throws IOException {
    real.heat.accept(report(3.25, 700).build());
    assertThat(one("/d/f", "heat")).startsWith("at most 3.25 as of ");
    assertThat(one("/d", "heat")).startsWith("at most 700 as of ");
    real.heat.accept(report(0.004, 0.004).build());
    assertThat(one("/d/f", "heat")).startsWith("0 as of ");
    assertThatThrownBy(() -> real.heat.accept(report(0, 0).addReads(1).build()))
        .hasMessageContaining("names 0 inodes and 1 counts");
    assertThat(one("/d/f", "heat")).as("a malformed report changes nothing").startsWith("0 as of ");
  }

  @Test
  void theHeatIsReadByWhoMayReadTheFileAndCannotBeSet() {
    assertThatThrownBy(() -> set("/d/f", "user.ebbfs.heat", "100"))
        .hasMessageContaining("user.ebbfs.heat are read-only");
    assertThatThrownBy(() -> one("/d/none", "heat")).isInstanceOf(FileNotFoundException.class);
  }

  // ---- the check of the rows
  // ----------------------------------------------------------------------

  @Test
  void attributesWithoutTheirInodeAreFound() throws IOException {
    set("/d/f", "user.a", "1");
    assertThat(findings()).isEmpty();
    long gone = inode("/d").id();
    put(Tables.XATTR, Tables.xattr(gone), XAttrRow.getDefaultInstance());
    assertThat(findings()).singleElement().asString().contains("attributes of inode " + gone);
  }

  /** The rows of all pages are checked, and a page of the largest rows fits into memory. */
  @Test
  void theAttributesOfManyInodesAreCheckedPageByPage() throws IOException {
    int inodes = 3 * Tables.XATTR.rowsOfAPage() + 1;
    for (long id = 1_000_000; id < 1_000_000 + inodes; id++) {
      put(Tables.XATTR, Tables.xattr(id), XAttrRow.getDefaultInstance());
    }
    assertThat(MetadataChecker.run(CodeRegistry.builtIn(), real.store, real.cluster, 1_000))
        .hasSize(inodes);
    long largestRow = (long) XAttrLimits.MOST_PER_INODE * XAttrLimits.LARGEST_SIZE_BYTES;
    assertThat(Tables.XATTR.rowsOfAPage() * largestRow).isLessThanOrEqualTo(64 << 20);
  }

  private List<MetadataChecker.Finding> findings() throws IOException {
    return MetadataChecker.run(CodeRegistry.builtIn(), real.store, real.cluster, 10);
  }
}
