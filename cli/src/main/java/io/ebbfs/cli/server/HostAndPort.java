package io.ebbfs.cli.server;

import java.net.InetSocketAddress;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** {@code HOST:PORT}, with a port that can be connected to. */
final class HostAndPort implements ITypeConverter<InetSocketAddress> {
  @Override
  public InetSocketAddress convert(String text) {
    int colon = text.lastIndexOf(':');
    if (colon <= 0) {
      throw new TypeConversionException(text + " is not HOST:PORT");
    }
    return new InetSocketAddress(
        text.substring(0, colon), Port.parse(text.substring(colon + 1), 1));
  }

  /** A port to listen at; 0 means any free one. */
  static final class Port implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return parse(text, 0);
    }

    private static int parse(String text, int least) {
      try {
        int port = Integer.parseInt(text);
        if (port >= least && port <= 65_535) {
          return port;
        }
      } catch (NumberFormatException e) {
        // Refused below, like a port out of range.
      }
      throw new TypeConversionException(
          "'%s' is not a port from %d to 65535".formatted(text, least));
    }
  }
}
