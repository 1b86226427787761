package io.ebbfs.namespace.inode;

import java.nio.charset.StandardCharsets;

/** Names of directory entries: UTF-8 in rows, text elsewhere. */
public final class Names {
  private Names() {}

  public static String text(byte[] name) {
    return new String(name, StandardCharsets.UTF_8);
  }
}
