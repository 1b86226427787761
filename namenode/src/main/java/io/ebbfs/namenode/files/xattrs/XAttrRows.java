package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.ExtendedAttributeProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.XAttrNamespaceProto;
import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Reads and writes the extended attributes of an inode, in a transaction of the caller. The pin is
 * a field of the inode's row, all other attributes are one row of their own, and the inode's row
 * tells whether there is one.
 */
public final class XAttrRows {
  private XAttrRows() {}

  /** The attributes of an inode, the last that was set first, and the pin at the end. */
  static List<XAttr> read(Transaction transaction, Inode inode) throws IOException {
    List<XAttr> attributes = new ArrayList<>();
    if (inode.row().getExtendedAttributes()) {
      Optional<XAttrRow> row = transaction.get(Tables.XATTR, Tables.xattr(inode.id()));
      row.ifPresent(
          found -> found.getAttributesList().forEach(stored -> attributes.add(attribute(stored))));
    }
    if (inode.row().hasPin()) {
      attributes.add(Pins.attribute(inode.row().getPin()));
    }
    return attributes;
  }

  /** The attributes of the inode at the end of a path, which may lead into a snapshot. */
  static List<XAttr> read(Transaction transaction, ResolvedPath path) throws IOException {
    Inode inode = path.lastFound();
    if (!path.isInSnapshots() || path.snapshot().attributes() == null) {
      return read(transaction, inode);
    }
    List<XAttr> attributes = new ArrayList<>();
    path.snapshot().attributes().getAttributesList().stream()
        .map(XAttrRows::attribute)
        .forEach(attributes::add);
    if (inode.row().hasPin()) {
      attributes.add(Pins.attribute(inode.row().getPin()));
    }
    return attributes;
  }

  /** Writes the pin that is among the attributes of a locked inode, or that it has none. */
  static void writePin(Transaction transaction, Inode inode, List<XAttr> attributes)
      throws IOException {
    InodeRow.Builder row = inode.row().toBuilder().clearPin();
    for (XAttr attribute : attributes) {
      if (Pins.isPin(attribute)) {
        row.setPin(Pins.of(attribute));
      }
    }
    transaction.put(Tables.INODE, inode.key(), row.build());
  }

  /** Writes all attributes of a locked inode but its pin. Their row is locked, too. */
  static void writeOthers(Transaction transaction, Inode inode, List<XAttr> attributes) {
    List<XAttr> others = attributes.stream().filter(attribute -> !Pins.isPin(attribute)).toList();
    InodeRow.Builder row = inode.row().toBuilder().clearExtendedAttributes();
    if (others.isEmpty()) {
      transaction.delete(Tables.XATTR, Tables.xattr(inode.id()));
    } else {
      XAttrRow.Builder stored = XAttrRow.newBuilder();
      others.forEach(attribute -> stored.addAttributes(message(attribute)));
      transaction.put(Tables.XATTR, Tables.xattr(inode.id()), stored.build());
      row.setExtendedAttributes(true);
    }
    // A snapshot keeps the old attributes with the old row of the inode.
    if (row.getExtendedAttributes() != inode.row().getExtendedAttributes()
        || !transaction.snapshots().isEmpty()) {
      transaction.put(Tables.INODE, inode.key(), row.build());
    }
  }

  /**
   * Refuses the superuser if the file has the attribute that asks for it.
   *
   * @throws AccessControlException as in HDFS
   */
  public static void checkReadableBySuperuser(
      Transaction transaction, Caller caller, ResolvedPath file) throws IOException {
    if (file.lastFound().row().getExtendedAttributes()
        && caller.isSuperuser()
        && read(transaction, file).stream().anyMatch(XAttrPermissions::isUnreadableBySuperuser)) {
      throw new AccessControlException(
          "Access is denied for "
              + caller.user()
              + " since the superuser is not allowed to perform this operation.");
    }
  }

  private static XAttr attribute(ExtendedAttributeProto stored) {
    return new XAttr.Builder()
        .setNameSpace(XAttr.NameSpace.valueOf(stored.getNamespace().name()))
        .setName(stored.getName())
        .setValue(stored.hasValue() ? stored.getValue().toByteArray() : null)
        .build();
  }

  private static ExtendedAttributeProto message(XAttr attribute) {
    ExtendedAttributeProto.Builder message =
        ExtendedAttributeProto.newBuilder()
            .setNamespace(XAttrNamespaceProto.valueOf(attribute.getNameSpace().name()))
            .setName(attribute.getName());
    if (attribute.getValue() != null) {
      message.setValue(ByteString.copyFrom(attribute.getValue()));
    }
    return message.build();
  }
}
