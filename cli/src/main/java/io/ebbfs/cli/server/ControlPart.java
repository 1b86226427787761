package io.ebbfs.cli.server;

import java.util.Optional;

/** A part of the control plane that may run in a process of its own. */
enum ControlPart {
  MANAGER("manager"),
  RAID_NODE("raid-node");

  private final String word;

  ControlPart(String word) {
    this.word = word;
  }

  /** The name of a process that runs this part only, or both. */
  static String nameOf(Optional<ControlPart> only) {
    return only.map(ControlPart::toString).orElse("control");
  }

  /** As the command line writes it. */
  @Override
  public String toString() {
    return word;
  }
}
