package io.ebbfs.coding;

/**
 * A place of a code that a block can take.
 *
 * @param index where it stands among the positions of its code; the only name used in rows and
 *     messages (StripeMemberProto.position)
 * @param name for people: "D1.4" (row 1, column 4), "D7", "R1", "C4", "L2", "G", "P0"
 * @param kind what is held there
 */
public record Position(int index, String name, PositionKind kind) {
  public boolean isData() {
    return kind == PositionKind.DATA;
  }

  public boolean isParity() {
    return kind.isParity();
  }
}
