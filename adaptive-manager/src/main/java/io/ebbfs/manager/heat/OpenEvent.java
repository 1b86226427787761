package io.ebbfs.manager.heat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/** A file was opened for reading. */
public record OpenEvent(long fileId, long timeMillis) {
  private static final ObjectMapper JSON = new ObjectMapper();

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
      return new OpenEvent(inode.longValue(), time.longValue());
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
