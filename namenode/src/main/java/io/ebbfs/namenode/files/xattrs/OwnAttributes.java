package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.namenode.files.inodes.Inode;
import java.io.IOException;
import org.apache.hadoop.fs.XAttr;

/** What may be set below {@code user.ebbfs.}, which only EbbFS's own attributes use. */
final class OwnAttributes {
  private static final String PREFIX = "ebbfs.";

  private OwnAttributes() {}

  /**
   * Refuses attributes below {@code user.ebbfs.} but the pin, and wrong pins.
   *
   * @throws IOException with the remedy
   */
  static void checkSet(XAttr attribute) throws IOException {
    if (Pins.isPin(attribute)) {
      Pins.of(attribute);
    } else if (isOwn(attribute)) {
      throw new IOException(
          "'user.%s' cannot be set: of the attributes below user.ebbfs. only user.ebbfs.pin can, and user.ebbfs.state, user.ebbfs.code and user.ebbfs.heat are read-only; choose a name that does not begin with user.ebbfs."
              .formatted(attribute.getName()));
    }
  }

  private static boolean isOwn(XAttr attribute) {
    return attribute.getNameSpace() == XAttr.NameSpace.USER
        && attribute.getName().startsWith(PREFIX);
  }

  /** What holds for all files is the matter of a policy. */
  static void checkPlace(XAttr attribute, Inode inode) throws IOException {
    if (Pins.isPin(attribute) && inode.isRoot()) {
      throw new IOException(
          "the root directory cannot have the pin user.ebbfs.pin: pin the directories below it, or let a policy in policies.yaml hold for all files");
    }
  }
}
