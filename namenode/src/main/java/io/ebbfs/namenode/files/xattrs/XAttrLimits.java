package io.ebbfs.namenode.files.xattrs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.XAttr;

/**
 * Limits on extended attributes, with HDFS's messages.
 *
 * @param perInode the attributes of a file or directory in the namespaces user and trusted
 * @param sizeBytes the length of a name without its namespace and of the value, together
 */
public record XAttrLimits(int perInode, int sizeBytes) {
  public static final XAttrLimits DEFAULT = new XAttrLimits(32, 16 << 10);

  /** HDFS accepts no larger size. */
  public static final int LARGEST_SIZE_BYTES = 32 << 10;

  /** Bounds the row of an inode, together with {@link #LARGEST_SIZE_BYTES}. */
  public static final int MOST_PER_INODE = 128;

  void checkSize(XAttr attribute) {
    int size = attribute.getName().getBytes(StandardCharsets.UTF_8).length;
    if (attribute.getValue() != null) {
      size += attribute.getValue().length;
    }
    if (size > sizeBytes) {
      throw new HadoopIllegalArgumentException(
          "The XAttr is too big. The maximum combined size of the name and value is %d, but the total size is %d"
              .formatted(sizeBytes, size));
    }
  }

  void checkNumber(List<XAttr> attributes) throws IOException {
    if (attributes.stream().filter(XAttrLimits::counts).count() > perInode) {
      throw new IOException(
          "Cannot add additional XAttr to inode, would exceed limit of " + perInode);
    }
  }

  private static boolean counts(XAttr attribute) {
    return attribute.getNameSpace() == XAttr.NameSpace.USER
        || attribute.getNameSpace() == XAttr.NameSpace.TRUSTED;
  }
}
