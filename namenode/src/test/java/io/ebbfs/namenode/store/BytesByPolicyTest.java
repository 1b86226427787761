package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.util.Map;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockStoragePolicySuite;
import org.junit.jupiter.api.Test;

class BytesByPolicyTest {
  private static final int ALL_SSD = id("ALL_SSD");
  private static final int ONE_SSD = id("ONE_SSD");
  private static final int COLD = id("COLD");
  private static final int NONE = EffectivePolicy.NONE;

  private static int id(String name) {
    return BlockStoragePolicySuite.createDefaultSuite().getPolicy(name).getId();
  }

  private static InodeRow.Builder file(long bytes, int copies) {
    return InodeRow.newBuilder()
        .setId(1)
        .setKind(InodeKindProto.FILE)
        .setOwner("ann")
        .setGroup("staff")
        .setPermission(0)
        .setModifiedMillis(0)
        .setCountedTypes(true)
        .setLengthBytes(bytes)
        .setReplication(copies)
        .setCountedBytes(bytes * copies);
  }

  private static BytesByPolicy of(InodeRow.Builder file, int policy) {
    BytesByPolicy bytes = new BytesByPolicy();
    bytes.add(file.build(), policy, 1);
    return bytes;
  }

  @Test
  void whatHasNoPolicyFromBelowFollowsTheDirectory() {
    BytesByPolicy bytes = of(file(10, 3), BytesByPolicy.FROM_ABOVE);
    bytes.add(file(1, 2).build(), COLD, 1);
    assertThat(bytes.types(ONE_SSD))
        .isEqualTo(Map.of(StorageType.SSD, 10L, StorageType.DISK, 20L, StorageType.ARCHIVE, 2L));
    assertThat(bytes.types(NONE)).isEqualTo(Map.of(StorageType.ARCHIVE, 2L));
    BytesByPolicy above = new BytesByPolicy();
    above.add(bytes, ALL_SSD, 1);
    assertThat(above.types(ONE_SSD))
        .isEqualTo(Map.of(StorageType.SSD, 30L, StorageType.ARCHIVE, 2L));
    above.add(bytes, ALL_SSD, -1);
    assertThat(above.isEmpty()).isTrue();
  }

  @Test
  void blockGroupsCountAsAWholeOnTheOneTypeOfTheirPolicy() {
    InodeRow.Builder striped = file(60, 1).setEcPolicyId(1).setCountedBytes(90);
    BytesByPolicy bytes = of(striped, BytesByPolicy.FROM_ABOVE);
    assertThat(bytes.types(ALL_SSD)).isEqualTo(Map.of(StorageType.SSD, 90L));
    assertThat(bytes.types(COLD)).isEqualTo(Map.of(StorageType.ARCHIVE, 90L));
    assertThat(bytes.types(ONE_SSD)).as("clients do not write groups by this policy").isEmpty();
    assertThat(BytesByPolicy.ofSummary(striped.build(), ALL_SSD))
        .isEqualTo(Map.of(StorageType.SSD, 60L));
  }

  @Test
  void rowsKeepAllAndUnknownPoliciesChooseNoType() {
    BytesByPolicy bytes = of(file(10, 3), BytesByPolicy.FROM_ABOVE);
    bytes.add(file(5, 1).build(), 9, 1);
    BytesByPolicy read = new BytesByPolicy();
    read.add(bytes.toRows());
    assertThat(read).isEqualTo(bytes);
    assertThat(read.types(200)).isEmpty();
    assertThat(of(file(10, 3).clearCountedTypes(), ALL_SSD).isEmpty()).isTrue();
  }
}
