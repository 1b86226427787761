package io.ebbfs.namenode.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.inodes.FileStatusConverter;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetFileInfoResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetListingResponseProto;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.junit.jupiter.api.RepeatedTest;

/** The bytes of our encoder are those of Hadoop's classes, over random rows. */
class FileStatusEncoderTest {
  private final long seed = new Random().nextLong();
  private final Random random = new Random(seed);

  @RepeatedTest(200)
  void aStatusHasTheBytesOfHadoop() {
    Inode inode = inode();
    byte[] expected =
        GetFileInfoResponseProto.newBuilder()
            .setFs(PBHelperClient.convert(FileStatusConverter.of(inode, HdfsFileStatus.EMPTY_NAME)))
            .build()
            .toByteArray();
    assertThat(FileStatusEncoder.alone(inode)).as("seed %d", seed).isEqualTo(expected);
  }

  @RepeatedTest(50)
  void aListingHasTheBytesOfHadoop() {
    List<Inode> page = new ArrayList<>();
    for (int left = random.nextInt(40); left > 0; left--) {
      page.add(inode());
    }
    boolean named = random.nextBoolean();
    // Hadoop refuses to write an empty page that has successors.
    int remaining = page.isEmpty() ? 0 : random.nextInt(3) * random.nextInt(1_000);
    HdfsFileStatus[] statuses =
        page.stream()
            .map(
                inode ->
                    FileStatusConverter.of(inode, named ? inode.name() : HdfsFileStatus.EMPTY_NAME))
            .toArray(HdfsFileStatus[]::new);
    byte[] expected =
        GetListingResponseProto.newBuilder()
            .setDirList(PBHelperClient.convert(new DirectoryListing(statuses, remaining)))
            .build()
            .toByteArray();
    assertThat(FileStatusEncoder.listing(page, named, remaining))
        .as("seed %d", seed)
        .isEqualTo(expected);
  }

  private Inode inode() {
    InodeRow.Builder row =
        InodeRow.newBuilder()
            .setId(number())
            .setKind(random.nextBoolean() ? InodeKindProto.FILE : InodeKindProto.DIRECTORY)
            .setOwner(text(20))
            .setGroup(text(20))
            .setPermission(random.nextInt(02000))
            .setModifiedMillis(number());
    if (row.getKind() == InodeKindProto.FILE) {
      row.setAccessedMillis(number())
          .setBlockSizeBytes(number())
          .setReplication(random.nextInt(512))
          .setLengthBytes(number())
          .setBlocks(random.nextInt(1_000));
    }
    return new Inode(
        Tables.inode(number(), text(200).getBytes(StandardCharsets.UTF_8)), row.build());
  }

  /** Numbers of all lengths, with the least and the greatest. */
  private long number() {
    return switch (random.nextInt(10)) {
      case 0 -> 0;
      case 1 -> Long.MAX_VALUE;
      default -> random.nextLong() >>> 1 + random.nextInt(63);
    };
  }

  /** Text of up to so many characters, of one to four bytes each. */
  private String text(int most) {
    StringBuilder text = new StringBuilder();
    for (int left = random.nextInt(most + 1); left > 0; left--) {
      text.appendCodePoint(
          switch (random.nextInt(8)) {
            case 0 -> 0xE4;
            case 1 -> 0x4E2D;
            case 2 -> 0x1F40B;
            default -> 'a' + random.nextInt(26);
          });
    }
    return text.toString();
  }
}
