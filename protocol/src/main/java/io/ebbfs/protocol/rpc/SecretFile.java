package io.ebbfs.protocol.rpc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;

/** A file with one line that only its owner may read: a key or a token. */
public final class SecretFile {
  private static final int LEAST_CHARACTERS = 32;
  private static final int RANDOM_BYTES = 32;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private SecretFile() {}

  /**
   * Reads the first line of a file.
   *
   * @param setting the key or option that names the file, for messages
   * @throws IOException with the remedy if it is missing, short, or open to other users
   */
  public static String read(String setting, Path file) throws IOException {
    Set<PosixFilePermission> permissions;
    String line;
    try {
      permissions = Files.getPosixFilePermissions(file);
      line = Files.readString(file, StandardCharsets.ISO_8859_1).lines().findFirst().orElse("");
    } catch (NoSuchFileException e) {
      throw new IOException(
          "%s %s does not exist; name the file of the cluster, or make one with 'openssl rand -hex"
                  .formatted(setting, file)
              + " 32' and 'chmod 600'",
          e);
    }
    if (!OWNER_ONLY.containsAll(permissions)) {
      throw new IOException(
          "%s %s is open to other users (%s); run 'chmod 600 %s'"
              .formatted(setting, file, PosixFilePermissions.toString(permissions), file));
    }
    String secret = line.stripTrailing();
    if (secret.length() < LEAST_CHARACTERS) {
      throw new IOException(
          "%s %s: its first line has %d characters, at least %d are needed; make one with 'openssl"
                  .formatted(setting, file, secret.length(), LEAST_CHARACTERS)
              + " rand -hex 32'");
    }
    return secret;
  }

  /** Writes a new random secret; keeps a file that exists. */
  public static void create(Path file) throws IOException {
    try {
      Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    } catch (FileAlreadyExistsException e) {
      return;
    }
    byte[] bytes = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(bytes);
    Files.writeString(file, HexFormat.of().formatHex(bytes) + "\n");
  }

  /** Whether a text is the secret, in a time that does not depend on where they differ. */
  public static boolean matches(String secret, String text) {
    return MessageDigest.isEqual(
        text.getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8));
  }
}
