package io.ebbfs.cli.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.log4j.Layout;
import org.apache.log4j.spi.LoggingEvent;

/** Writes each log message as one line with a JSON object. Thread-safe. */
public final class JsonLayout extends Layout {
  private final ObjectMapper json = new ObjectMapper();

  @Override
  public String format(LoggingEvent event) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("time", Instant.ofEpochMilli(event.getTimeStamp()).toString());
    fields.put("level", event.getLevel().toString());
    fields.put("thread", event.getThreadName());
    fields.put("logger", event.getLoggerName());
    fields.put("message", event.getRenderedMessage());
    String[] trace = event.getThrowableStrRep();
    if (trace != null) {
      fields.put("trace", String.join("\n", trace));
    }
    try {
      return json.writeValueAsString(fields) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Said of the layout: the trace is in the object, and no appender adds it. */
  @Override
  public boolean ignoresThrowable() {
    return false;
  }

  @Override
  public void activateOptions() {}
}
