package io.ebbfs.workloads.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which code serves a read: three files of two, two and one block. */
final class FileCodesTest {
  private static final String FAST = "PC(2x5)";
  private static final String COMPACT = "PC(6x5)";

  private final FileCodes codes = new FileCodes();

  FileCodesTest() {
    codes.setFiles(List.of(file(1, 2), file(2, 2), file(3, 1)));
    codes.setStripes(List.of(stripe(FAST, 1, 1, 2), stripe(COMPACT, 2, 900)));
  }

  private static FileStatusProto file(long id, int blocks) {
    return FileStatusProto.newBuilder()
        .setFileId(id)
        .setPath(remote(id))
        .setBlocks(blocks)
        .buildPartial();
  }

  private static String remote(long id) {
    return Family.PRODUCT.tree + "/" + id;
  }

  private static StripeStatusProto stripe(String code, long... owners) {
    StripeRow.Builder row = StripeRow.newBuilder().setCode(code);
    for (long owner : owners) {
      row.addMembers(StripeMemberProto.newBuilder().setOwnerId(owner).buildPartial());
    }
    return StripeStatusProto.newBuilder().setStripe(row.buildPartial()).buildPartial();
  }

  private static LocalFile local(long id) {
    return new LocalFile(Path.of("/data/" + id), remote(id), 1, Family.PRODUCT);
  }

  @Test
  void blocksAreCountedByCode() {
    assertThat(codes.blocksByCode(remote(1))).isEqualTo(Map.of(FAST, 2));
    assertThat(codes.blocksByCode(remote(2))).isEqualTo(Map.of(FAST, 1, COMPACT, 1));
    assertThat(codes.blocksByCode(remote(3))).isEqualTo(Map.of(FileCodes.UNENCODED, 1));
    assertThat(codes.blocksByCode("/elsewhere")).isEmpty();
    assertThat(codes.path(1)).hasValue(remote(1));
    assertThat(codes.path(900)).as("the owner of a parity").isEmpty();
  }

  @Test
  void theShareOfAFewFilesIsOfTheirBlocks() {
    assertThat(codes.share(List.of(remote(1), remote(2), remote(3)), FAST))
        .isCloseTo(.6, within(1e-9));
    assertThat(codes.share(List.of(), FAST)).isZero();
  }

  @Test
  void aReadCountsForTheCodeOfItsTime() {
    ServedReads served = new ServedReads(codes);
    served.add(local(1)); // before it counts
    assertThat(served.share(Family.PRODUCT, FAST)).isZero();
    served.begin();
    served.add(local(1));
    codes.setStripes(List.of(stripe(COMPACT, 1, 1)));
    served.add(local(1));
    assertThat(served.share(Family.PRODUCT, FAST)).isCloseTo(.5, within(1e-9));
    assertThat(served.share(Family.LRC, FAST)).isZero();
  }
}
