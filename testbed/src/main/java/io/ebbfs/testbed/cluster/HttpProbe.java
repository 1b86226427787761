package io.ebbfs.testbed.cluster;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;

/** Asks a process whether it is ready. */
final class HttpProbe {
  private static final int TIMEOUT_MILLIS = 2_000;

  private HttpProbe() {}

  static boolean isReady(String host, int port) {
    try {
      HttpURLConnection connection =
          (HttpURLConnection)
              URI.create("http://%s:%d/ready".formatted(host, port)).toURL().openConnection();
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false;
    }
  }
}
