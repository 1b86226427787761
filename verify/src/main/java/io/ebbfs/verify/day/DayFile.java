package io.ebbfs.verify.day;

import java.util.SplittableRandom;

/**
 * A file that is written once. Its bytes follow from its seed.
 *
 * @param path its name
 * @param seed of its bytes
 * @param lengthBytes how many there are
 */
record DayFile(String path, long seed, int lengthBytes) {
  byte[] content() {
    byte[] bytes = new byte[lengthBytes];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }
}
