package io.ebbfs.manager.heat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/**
 * A file was opened for reading.
 *
 * @param timeMillis the time of the last of these opens
 * @param count how many opens the event stands for, at least 1
 */
public record OpenEvent(long fileId, long timeMillis, long count) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** One open. */
  public OpenEvent(long fileId, long timeMillis) {
    this(fileId, timeMillis, 1);
  }

  /** The same opens, but not in the future: a file would stay hot for too long. */
  OpenEvent notAfter(long nowMillis) {
    return new OpenEvent(fileId, Math.min(timeMillis, nowMillis), count);
  }

  /**
   * Parses the value of a Kafka record; unknown fields are ignored.
   *
   * @throws IllegalArgumentException with the cause, if it is not an event
   */
  public static OpenEvent parse(byte[] value) {
    if (value == null) {
      throw new IllegalArgumentException("the event has no value");
    }
    try {
      JsonNode node = JSON.readTree(value);
      JsonNode inode = node.path("inode");
      JsonNode time = node.path("time");
      if (!whole(inode) || inode.longValue() <= 0) {
        throw new IllegalArgumentException("'inode' is not a positive number: " + inode);
      }
      if (!whole(time) || time.longValue() < 0) {
        throw new IllegalArgumentException("'time' is not milliseconds: " + time);
      }
      JsonNode count = node.path("count");
      if (!count.isMissingNode() && (!whole(count) || count.longValue() < 1)) {
        throw new IllegalArgumentException("'count' is not a positive number: " + count);
      }
      return new OpenEvent(inode.longValue(), time.longValue(), count.asLong(1));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("the event is not JSON: " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new IllegalArgumentException("the event is not JSON: " + e.getMessage(), e);
    }
  }

  private static boolean whole(JsonNode node) {
    return node.isIntegralNumber() && node.canConvertToLong();
  }
}
