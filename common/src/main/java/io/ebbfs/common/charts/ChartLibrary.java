package io.ebbfs.common.charts;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/**
 * The scripts that draw plots in a browser: Apache ECharts, and {@code charts.js}, which draws the
 * plots of EbbFS with it. Both come from the class path, so no page needs a network. Thread-safe.
 */
public final class ChartLibrary {
  private static final String WEBJAR = "org.webjars.npm/echarts";

  private ChartLibrary() {}

  /** Apache ECharts, minified; it defines the global {@code echarts}. */
  public static String echarts() {
    Properties webjar = new Properties();
    try (InputStream in = open("/META-INF/maven/" + WEBJAR + "/pom.properties")) {
      webjar.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String version = webjar.getProperty("version");
    return text("/META-INF/resources/webjars/echarts/" + version + "/dist/echarts.min.js");
  }

  /** The plots of EbbFS; it defines the global {@code Charts} and needs {@link #echarts}. */
  public static String charts() {
    return text("charts.js");
  }

  /** Both scripts as elements of a page that is one file. */
  public static String elements() {
    return element("echarts", echarts()) + element("charts", charts());
  }

  private static String element(String id, String script) {
    // A script element ends at the first of these, also inside a string of the script.
    return "<script id=\""
        + id
        + "\">\n"
        + script.replace("</script", "<\\/script")
        + "</script>\n";
  }

  private static String text(String path) {
    try (InputStream in = open(path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static InputStream open(String path) {
    InputStream in = ChartLibrary.class.getResourceAsStream(path);
    if (in == null) {
      throw new IllegalStateException(
          "'" + path + "' is not on the class path: build the module 'common' again");
    }
    return in;
  }
}
