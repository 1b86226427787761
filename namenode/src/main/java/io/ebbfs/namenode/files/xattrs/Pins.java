package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.apache.hadoop.fs.XAttr;

/** The attribute {@code user.ebbfs.pin}: the code that a user asks for. Pure functions. */
final class Pins {
  private static final int MOST_SHOWN = 40;

  /** The name without its namespace. */
  static final String NAME = "ebbfs.pin";

  private Pins() {}

  static boolean isPin(XAttr attribute) {
    return attribute.getNameSpace() == XAttr.NameSpace.USER && attribute.getName().equals(NAME);
  }

  static XAttr attribute(PinProto pin) {
    return new XAttr.Builder()
        .setNameSpace(XAttr.NameSpace.USER)
        .setName(NAME)
        .setValue(text(pin).getBytes(StandardCharsets.UTF_8))
        .build();
  }

  private static String text(PinProto pin) {
    return pin.name().toLowerCase(Locale.ROOT);
  }

  /**
   * The pin that an attribute asks for.
   *
   * @throws IOException if its value is no pin
   */
  static PinProto of(XAttr attribute) throws IOException {
    byte[] value = attribute.getValue() == null ? new byte[0] : attribute.getValue();
    String text = new String(value, StandardCharsets.UTF_8);
    for (PinProto pin : PinProto.values()) {
      if (text.equals(text(pin))) {
        return pin;
      }
    }
    throw new IOException(
        "'%s' is no pin: set user.ebbfs.pin to fast, compact or replicas, or remove the pin with 'hdfs dfs -setfattr -x user.ebbfs.pin PATH'"
            .formatted(text.length() > MOST_SHOWN ? text.substring(0, MOST_SHOWN) + "..." : text));
  }
}
