package io.ebbfs.coding.code;

/**
 * A place in a stripe of a code. It holds one block, or a virtual zero.
 *
 * @param index the number of the place, from 0, data first; rows and messages use it
 *     (StripeMemberProto.position)
 * @param name for people: "D1.4" (data at row 1, column 4), "D7", "R1", "C4", "L2", "G", "P0"
 * @param kind data, or which kind of parity
 */
public record Position(int index, String name, PositionKind kind) {
  public boolean isData() {
    return kind == PositionKind.DATA;
  }

  public boolean isParity() {
    return kind.isParity();
  }
}
