package io.ebbfs.fault;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The kinds of faults of a timetable. */
public enum Fault {
  /** A replica is deleted. */
  BLOCK("block", false),
  /** Some bytes of a replica are flipped. */
  CORRUPT("corrupt", false),
  /** All blocks of a disk are deleted. */
  DISK("disk", false),
  /** A server is killed. */
  SERVER("server", true),
  /** All servers of a rack are killed. */
  RACK("rack", true),
  /** The link of a server gets a lower rate. Only in a lab. */
  SLOW_LINK("slowLink", true),
  /** A server is killed and started again, several times. */
  FLAP("flap", false);

  private final String word;
  private final boolean ends;

  Fault(String word, boolean ends) {
    this.word = word;
    this.ends = ends;
  }

  /** The name in a file. */
  public String word() {
    return word;
  }

  /** Whether it ends after the time of {@code for:}. */
  public boolean ends() {
    return ends;
  }

  static Optional<Fault> of(String word) {
    return Arrays.stream(values()).filter(fault -> fault.word.equals(word)).findFirst();
  }

  static List<String> words() {
    return Arrays.stream(values()).map(Fault::word).toList();
  }
}
