package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Random rows for tests of encoders. */
final class RandomRows {
  private final Random random;

  RandomRows(Random random) {
    this.random = random;
  }

  Inode inode() {
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

  BlockRow block() {
    return BlockRow.newBuilder()
        .setBlockId(number())
        .setGenerationStamp(number())
        .setLengthBytes(number())
        .setState(BlockStateProto.values()[random.nextInt(BlockStateProto.values().length)])
        .setReplication(random.nextInt(512))
        .build();
  }

  /** Numbers of all lengths, with the least and the greatest. */
  long number() {
    return switch (random.nextInt(10)) {
      case 0 -> 0;
      case 1 -> Long.MAX_VALUE;
      default -> random.nextLong() >>> 1 + random.nextInt(63);
    };
  }

  /** Text of up to so many characters, of one to four bytes each. */
  String text(int most) {
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
