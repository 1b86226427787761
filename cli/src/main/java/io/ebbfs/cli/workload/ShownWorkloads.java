package io.ebbfs.cli.workload;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.cli.options.Json;
import io.ebbfs.workloads.traffic.Profile;
import io.ebbfs.workloads.traffic.Properties;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The words that name workloads to show. */
final class ShownWorkloads {
  @Mixin private HelpOption help;
  @Mixin private WorkloadSource source;
  @Mixin private Json json;

  @Parameters(
      paramLabel = "NAME",
      description = "CC1, CC2, CC3, CC4, FB, or 'trace' with --trace (default: all).")
  private List<String> names = List.of();

  /** Prints their properties; 1 if a generated workload has not the properties of its profile. */
  int show() throws IOException {
    List<Workload> workloads = new ArrayList<>();
    for (String name : wanted()) {
      workloads.add(source.workload(name));
    }
    if (json.isAsked()) {
      Map<String, Properties> all = new LinkedHashMap<>();
      workloads.forEach(w -> all.put(w.name(), Properties.of(w)));
      Json.print(all);
      return 0;
    }
    return ShownWorkloadTable.print(workloads) ? 0 : 1;
  }

  private List<String> wanted() {
    if (!names.isEmpty()) {
      return names;
    }
    return source.isTrace()
        ? List.of(WorkloadSource.TRACE)
        : Profile.all().stream().map(Profile::name).toList();
  }
}
