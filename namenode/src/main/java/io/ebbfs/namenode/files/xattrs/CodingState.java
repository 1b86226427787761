package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.XAttr;

/**
 * The attributes of a file that tell how it is stored. {@code user.ebbfs.state} is "replicas",
 * "encoded" or "partly encoded"; {@code user.ebbfs.code} names the codes of its stripes, separated
 * by commas, and does not exist without a stripe. They are made of the rows of the blocks when
 * somebody asks for them.
 */
final class CodingState {
  static final String STATE = "ebbfs.state";
  static final String CODE = "ebbfs.code";

  private static final int STRIPES_AT_ONCE = 500;

  private CodingState() {}

  /** The attribute, if it tells how a file is stored and the inode is a file. */
  static Optional<XAttr> find(Transaction transaction, Inode inode, XAttr wanted)
      throws IOException {
    if (!inode.isFile() || wanted.getNameSpace() != XAttr.NameSpace.USER) {
      return Optional.empty();
    }
    return switch (wanted.getName()) {
      case STATE -> Optional.of(attribute(STATE, state(transaction, inode)));
      case CODE ->
          Optional.of(codes(transaction, inode))
              .filter(codes -> !codes.isEmpty())
              .map(codes -> attribute(CODE, String.join(",", codes)));
      default -> Optional.empty();
    };
  }

  private static String state(Transaction transaction, Inode file) throws IOException {
    List<Row<BlockRow>> blocks = transaction.scan(Tables.BLOCK, file.id());
    long encoded = blocks.stream().filter(block -> stripeOf(block.value()).isPresent()).count();
    if (encoded == 0) {
      return "replicas";
    }
    return encoded == blocks.size() ? "encoded" : "partly encoded";
  }

  private static Set<String> codes(Transaction transaction, Inode file) throws IOException {
    List<Key> stripes =
        transaction.scan(Tables.BLOCK, file.id()).stream()
            .flatMap(block -> stripeOf(block.value()).stream())
            .distinct()
            .map(Tables::stripe)
            .toList();
    Set<String> codes = new TreeSet<>();
    for (int from = 0; from < stripes.size(); from += STRIPES_AT_ONCE) {
      List<Key> page = stripes.subList(from, Math.min(from + STRIPES_AT_ONCE, stripes.size()));
      for (Optional<StripeRow> stripe : transaction.getAll(Tables.STRIPE, page)) {
        stripe.map(StripeRow::getCode).ifPresent(codes::add);
      }
    }
    return codes;
  }

  /** The stripe of a block, or of a block group. */
  private static Optional<Long> stripeOf(BlockRow block) {
    if (block.hasInternalOwnerId()) {
      return Optional.of(block.getInternalOwnerId());
    }
    return block.hasStripeId() ? Optional.of(block.getStripeId()) : Optional.empty();
  }

  private static XAttr attribute(String name, String value) {
    return new XAttr.Builder()
        .setNameSpace(XAttr.NameSpace.USER)
        .setName(name)
        .setValue(value.getBytes(StandardCharsets.UTF_8))
        .build();
  }
}
