package io.ebbfs.namenode.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.Seeds;
import io.ebbfs.namenode.files.inodes.FileStatusConverter;
import io.ebbfs.namenode.files.inodes.Inode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetFileInfoResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetListingResponseProto;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.junit.jupiter.api.RepeatedTest;

/** The bytes of our encoder are those of Hadoop's classes, over random rows. */
class FileStatusEncoderTest {
  private final long seed = Seeds.next(FileStatusEncoderTest.class);
  private final Random random = new Random(seed);
  private final RandomRows rows = new RandomRows(random);

  @RepeatedTest(200)
  void aStatusHasTheBytesOfHadoop() {
    Inode inode = rows.inode();
    byte[] expected =
        GetFileInfoResponseProto.newBuilder()
            .setFs(PBHelperClient.convert(FileStatusConverter.of(inode, HdfsFileStatus.EMPTY_NAME)))
            .build()
            .toByteArray();
    assertThat(FileStatusEncoder.alone(inode)).as("seed %d", seed).isEqualTo(expected);
    byte[] created =
        CreateResponseProto.newBuilder()
            .setFs(PBHelperClient.convert(FileStatusConverter.of(inode, HdfsFileStatus.EMPTY_NAME)))
            .build()
            .toByteArray();
    assertThat(FileStatusEncoder.alone(inode)).as("seed %d", seed).isEqualTo(created);
  }

  @RepeatedTest(50)
  void aListingHasTheBytesOfHadoop() {
    List<Inode> page = new ArrayList<>();
    for (int left = random.nextInt(40); left > 0; left--) {
      page.add(rows.inode());
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
}
