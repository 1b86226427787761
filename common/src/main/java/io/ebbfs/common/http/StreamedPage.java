package io.ebbfs.common.http;

import java.io.IOException;
import java.io.Writer;
import java.util.Map;

/** A page of text that is sent while it is written. Thread-safe. */
@FunctionalInterface
public interface StreamedPage {
  /**
   * Writes the page.
   *
   * @param query the parameters of the request; the first value of each
   * @param client the address of the client
   * @param out is to be flushed now and then: it fails once the client has gone
   */
  void write(Map<String, String> query, String client, Writer out) throws IOException;
}
