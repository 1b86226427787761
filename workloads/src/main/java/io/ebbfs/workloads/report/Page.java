package io.ebbfs.workloads.report;

import io.ebbfs.common.charts.ChartLibrary;
import io.ebbfs.workloads.report.Claim.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The report as one HTML file that loads nothing from elsewhere. */
final class Page {
  private final Figures figures;

  private Page(Figures figures) {
    this.figures = figures;
  }

  static String of(Figures figures) throws IOException {
    Page page = new Page(figures);
    try (InputStream template = Page.class.getResourceAsStream("report.html")) {
      return new String(template.readAllBytes(), StandardCharsets.UTF_8)
          .replace("<!--CHARTS-->", ChartLibrary.elements())
          .replace("<!--TITLE-->", Html.escape(page.title()))
          .replace("<!--BODY-->", page.body());
    }
  }

  private String title() {
    return "EbbFS: two codes against one, measured";
  }

  private String body() {
    PaperSections paper = new PaperSections(figures);
    OwnSections own = new OwnSections(figures);
    List<String> sections = new ArrayList<>();
    sections.add(head());
    sections.add(tiles());
    sections.add(claims("What EbbFS set out to show", Claim.By.GOAL));
    sections.add(paper.degradedReads());
    sections.add(paper.summary());
    sections.add(paper.reconstruction());
    sections.add(paper.encoding());
    sections.add(paper.storage());
    sections.add(own.safety());
    sections.add(own.foreground());
    sections.add(own.jobs());
    sections.add(own.timetable());
    sections.add(own.trace());
    sections.add(own.sensitivity());
    sections.add(claims("What the paper claims", Claim.By.PAPER));
    sections.add(paper.codes());
    sections.add(paper.workloads());
    sections.add(own.environment());
    return String.join("\n", sections);
  }

  private String head() {
    long systems = figures.runs().size();
    var e = figures.environment();
    String where =
        Format.of(
            "%s: %d system%s on %d servers with %d disks each, %s blocks, %s%s, seed %d.",
            figures.experiment(),
            systems,
            systems == 1 ? "" : "s",
            e.servers(),
            e.disks(),
            Format.bytes(e.blockBytes()),
            e.rate() == null ? "loopback without shaped links" : "links of " + e.rate(),
            repetitions(),
            e.seed());
    StringBuilder html = new StringBuilder("<header><h1>").append(Html.escape(title()));
    html.append("</h1><p class=\"lead\">").append(Html.escape(where)).append("</p>");
    for (String warning : warnings()) {
      html.append("<p class=\"warning\">").append(Html.escape(warning)).append("</p>");
    }
    return html.append("</header>").toString();
  }

  private String repetitions() {
    return switch (figures.repetitions()) {
      case 0 -> "";
      case 1 -> ", 1 repetition";
      default -> ", at least " + figures.repetitions() + " repetitions";
    };
  }

  private List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    if (figures.mixedCommits()) {
      warnings.add(
          "The systems come from different commits: " + Commits.list(figures.runs()) + ".");
    }
    if (!figures.shapedLinks()) {
      warnings.add(
          "The links had no rate (loopback). Blocks, bytes and storage are valid. Times of transfers and loads of links are not comparable, and no claim about time is judged.");
    }
    if (!figures.sameEnvironment()) {
      warnings.add(
          "The systems did not run in the same environment: see the last section. Figures of different environments must not be compared.");
    }
    if (figures.repetitions() > 0 && figures.repetitions() < 5) {
      warnings.add(
          "Fewer than 5 repetitions: medians and spreads are uncertain. The full experiment has more.");
    }
    return warnings;
  }

  private String tiles() {
    long confirmed = ConsoleSummary.count(figures, Claim.By.GOAL, Verdict.CONFIRMED);
    long refuted = ConsoleSummary.count(figures, Claim.By.GOAL, Verdict.REFUTED);
    long goals = figures.claims().stream().filter(c -> c.by() == Claim.By.GOAL).count();
    long edge =
        figures.claims().stream().filter(c -> c.by() == Claim.By.GOAL && c.atTheEdge()).count();
    int equal = figures.losses().stream().mapToInt(Reconstruction.Loss::equalToPlan).sum();
    int losses = figures.losses().stream().mapToInt(Reconstruction.Loss::coded).sum();
    long paper = figures.claims().size() - goals;
    return "<div class=\"tiles\">"
        + tile(confirmed + " of " + goals, "goals confirmed", refuted == 0 ? "good" : "")
        + tile(String.valueOf(refuted), "goals refuted", refuted == 0 ? "good" : "wrong")
        + tile(
            ConsoleSummary.count(figures, Claim.By.PAPER, Verdict.CONFIRMED) + " of " + paper,
            "of the paper's claims confirmed",
            "")
        + (edge == 0
            ? ""
            : tile(String.valueOf(edge), "goals at the edge: within the repetitions", ""))
        + (losses == 0
            ? ""
            : tile(
                equal + " of " + losses,
                "losses of coded data whose repair read what theory says",
                equal == losses ? "good" : "wrong"))
        + "</div>";
  }

  private static String tile(String value, String label, String look) {
    return "<div class=\"tile %s\"><b>%s</b><span>%s</span></div>"
        .formatted(look, Html.escape(value), Html.escape(label));
  }

  /** Empty if too few systems were compared. All claims are in report.json. */
  private String claims(String title, Claim.By by) {
    if (figures.compared() < (by == Claim.By.PAPER ? 3 : 1)) {
      return "";
    }
    return Html.section(
        title,
        by == Claim.By.GOAL
            ? "Judged by medians over the repetitions. At the edge: another repetition than the median would give the other verdict."
            : "Taken from the text of the paper. A claim that arithmetic alone decides says so.",
        figures.claims().stream()
            .filter(c -> c.by() == by)
            .map(Page::claim)
            .collect(Collectors.joining("\n")));
  }

  private static String claim(Claim claim) {
    String look = claim.verdict() == Verdict.NOT_MEASURED ? "" : claim.verdict().text();
    return "<div class=\"claim\"><span class=\"pill %s\">%s</span><span>%s</span><span class=\"measured\">%s</span>%s</div>"
        .formatted(
            look,
            claim.verdictText(),
            Html.escape(claim.text()),
            Html.escape(claim.measured()),
            claim.why().isEmpty()
                ? ""
                : "<span class=\"why\">" + Html.escape(claim.why()) + "</span>");
  }
}
