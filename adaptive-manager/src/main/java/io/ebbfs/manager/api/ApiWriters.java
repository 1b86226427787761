package io.ebbfs.manager.api;

import io.ebbfs.protocol.rpc.SecretFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Who may send requests that change something: whoever sends {@code Authorization: Bearer TOKEN}.
 *
 * @param token the token; empty if nobody may
 */
public record ApiWriters(String token) {
  private static final String SCHEME = "Bearer ";

  /** Those who know the token in a file; nobody if there is no file. */
  public static ApiWriters of(Optional<Path> file) throws IOException {
    return new ApiWriters(file.isPresent() ? SecretFile.read("--api-token", file.get()) : "");
  }

  /**
   * Refuses a request that a page of another site has sent. The token alone would do, unless a
   * browser had been told the token for another site.
   *
   * @param fetchSite the value of the header Sec-Fetch-Site; null if it has none
   * @param origin that of the header Origin; null if it has none
   * @param host that of the header Host
   */
  static void checkSite(String fetchSite, String origin, String host) {
    boolean crossSite =
        fetchSite != null && !fetchSite.equals("same-origin") && !fetchSite.equals("none");
    boolean otherOrigin =
        origin != null && !origin.equals("http://" + host) && !origin.equals("https://" + host);
    if (crossSite || otherOrigin) {
      throw new ApiException(
          403,
          "a page of another site%s has sent this request"
              .formatted(origin == null ? "" : " (" + origin + ")"),
          "send requests that change something from the dashboard, or with curl");
    }
  }

  /**
   * Refuses a request.
   *
   * @param header the value of its header Authorization; null if it has none
   */
  void check(String header) {
    if (token.isEmpty()) {
      throw new ApiException(
          403,
          "this control plane answers no request that changes something: it has no token",
          "start it with --api-token FILE, a file of mode 600");
    }
    if (header == null || !header.startsWith(SCHEME)) {
      throw new ApiException(
          401,
          "a request that changes something needs a token",
          "send the header 'Authorization: Bearer TOKEN' with the content of the file that"
              + " --api-token names; in a cluster of 'ebb up', api.token in the cluster's directory");
    }
    if (!SecretFile.matches(token, header.substring(SCHEME.length()).strip())) {
      throw new ApiException(
          401,
          "the token is not that of this control plane",
          "send the content of the file that --api-token names");
    }
  }

  @Override
  public String toString() {
    return token.isEmpty() ? "nobody" : "whoever knows the token";
  }
}
