package io.ebbfs.manager.heat;

import io.ebbfs.manager.config.HalfLives;
import java.nio.ByteBuffer;

/** The reads of a file, or of several: as heat, and as they are remembered for longer. */
record Reads(Decay heat, Decay memory) {
  static final Reads NONE = new Reads(Decay.NONE, Decay.NONE);

  /** Of the encoded form. */
  static final int BYTES = 32;

  Reads plus(OpenEvent event, HalfLives halfLives) {
    return new Reads(
        heat.plusReads(event.count(), event.timeMillis(), halfLives.heatMillis()),
        memory.plusReads(event.count(), event.timeMillis(), halfLives.memoryMillis()));
  }

  /** Adds the reads of another file, or takes them away again. */
  Reads plus(Reads other, HalfLives halfLives, int sign) {
    return new Reads(
        heat.plus(other.heat, halfLives.heatMillis(), sign),
        memory.plus(other.memory, halfLives.memoryMillis(), sign));
  }

  double heatAt(long timeMillis, HalfLives halfLives) {
    return heat.at(timeMillis, halfLives.heatMillis());
  }

  boolean isForgotten(long nowMillis, HalfLives halfLives, double below) {
    return heat.at(nowMillis, halfLives.heatMillis()) < below
        && memory.at(nowMillis, halfLives.memoryMillis()) < below;
  }

  byte[] encoded() {
    return encodeTo(ByteBuffer.allocate(BYTES)).array();
  }

  ByteBuffer encodeTo(ByteBuffer buffer) {
    return buffer
        .putDouble(heat.count())
        .putLong(heat.atMillis())
        .putDouble(memory.count())
        .putLong(memory.atMillis());
  }

  /** None for null. */
  static Reads decode(byte[] value) {
    return value == null ? NONE : decode(ByteBuffer.wrap(value));
  }

  /** A row of an earlier version lacks what is remembered. */
  static Reads decode(ByteBuffer buffer) {
    Decay heat = new Decay(buffer.getDouble(), buffer.getLong());
    return new Reads(
        heat, buffer.hasRemaining() ? new Decay(buffer.getDouble(), buffer.getLong()) : heat);
  }
}
