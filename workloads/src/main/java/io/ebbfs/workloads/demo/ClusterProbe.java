package io.ebbfs.workloads.demo;

import io.ebbfs.cluster.NamenodeClient;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.PackingCost;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Asks the namenode about the state of the cluster, over CodingProtocol. Thread-safe. */
public final class ClusterProbe implements AutoCloseable {
  private static final int PAGE = 2000;

  private final NamenodeClient client;
  private final CodingProtocol namenode;

  /** Closes the client when it is closed. */
  public ClusterProbe(NamenodeClient client) {
    this.client = client;
    this.namenode = client.coding();
  }

  /** Logical and stored bytes of one family's files, and what packing its stripes costs. */
  record Usage(long logicalBytes, long storedBytes, PackingCost packing) {
    double overhead() {
      return ofLogical(storedBytes);
    }

    /** Such bytes per logical byte. */
    double ofLogical(long bytes) {
      return logicalBytes == 0 ? 0 : (double) bytes / logicalBytes;
    }
  }

  /** The cluster as the namenode sees it. */
  public GetClusterResponseProto cluster() throws IOException {
    return client.cluster();
  }

  /** The monotonic counters whose names start with the prefix, without it. */
  Map<String, Long> counters(String prefix) throws IOException {
    return cluster().getCountersList().stream()
        .filter(counter -> counter.getName().startsWith(prefix))
        .collect(
            Collectors.toMap(
                counter -> counter.getName().substring(prefix.length()),
                counter -> counter.getValue()));
  }

  /** The files at a path and below it. */
  public List<FileStatusProto> files(String path) throws IOException {
    List<FileStatusProto> files = new ArrayList<>();
    pages(
        cursor -> {
          ListFilesRequestProto.Builder request =
              ListFilesRequestProto.newBuilder().setLimit(PAGE).setPath(path);
          if (cursor != null) {
            request.setCursor(cursor);
          }
          ListFilesResponseProto page = call(() -> namenode.listFiles(null, request.build()));
          files.addAll(page.getFilesList());
          return page.hasCursor() ? page.getCursor() : null;
        });
    return files;
  }

  /** All stripes. */
  public List<StripeStatusProto> stripes() throws IOException {
    return stripes(false);
  }

  /** All stripes, and where their members are. */
  public List<StripeStatusProto> stripesWithLocations() throws IOException {
    return stripes(true);
  }

  private List<StripeStatusProto> stripes(boolean withLocations) throws IOException {
    List<StripeStatusProto> stripes = new ArrayList<>();
    pages(
        cursor -> {
          ListStripesRequestProto.Builder request =
              ListStripesRequestProto.newBuilder().setLimit(PAGE).setWithLocations(withLocations);
          if (cursor != null) {
            request.setCursor(cursor);
          }
          ListStripesResponseProto page = call(() -> namenode.listStripes(null, request.build()));
          stripes.addAll(page.getStripesList());
          return page.hasCursor() ? page.getCursor() : null;
        });
    return stripes;
  }

  /** The transitions in these states; without any, all. */
  public List<TransitionRow> transitions(TransitionStateProto... states) throws IOException {
    List<TransitionRow> transitions = new ArrayList<>();
    pages(
        cursor -> {
          ListTransitionsRequestProto.Builder request =
              ListTransitionsRequestProto.newBuilder().setLimit(PAGE).addAllStates(List.of(states));
          if (cursor != null) {
            request.setCursor(cursor);
          }
          ListTransitionsResponseProto page =
              call(() -> namenode.listTransitions(null, request.build()));
          transitions.addAll(page.getTransitionsList());
          return page.hasCursor() ? page.getCursor() : null;
        });
    return transitions;
  }

  /** What each family's files take on the disks, parities and deleted members included. */
  Map<Family, Usage> usage() throws IOException {
    List<StripeStatusProto> stripes = stripes();
    Map<Family, Usage> usage = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      long logical = 0;
      long stored = 0;
      PackingCost packing = PackingCost.NONE;
      for (FileStatusProto file : files(family.tree)) {
        logical += file.getLengthBytes();
        stored += file.getStoredBytes();
      }
      for (StripeStatusProto stripe : stripes) {
        if (stripe.getStripe().getPolicy().equals(family.key())) {
          stored += stripe.getParityBytes() + stripe.getDeadBytes();
          packing = packing.plus(packing(stripe));
        }
      }
      usage.put(family, new Usage(logical, stored, packing));
    }
    return usage;
  }

  private static PackingCost packing(StripeStatusProto stripe) {
    ErasureCode code = Codes.byName(stripe.getStripe().getCode());
    return PackingCost.of(
        code,
        stripe.getStripe().getMembersList().stream()
            .map(StripeMemberProto::getPosition)
            .filter(position -> position < code.dataCount())
            .collect(Collectors.toSet()),
        stripe.getLiveBytes(),
        stripe.getDeadBytes(),
        stripe.getParityBytes());
  }

  private static void pages(PageReader reader) throws IOException {
    ByteString cursor = null;
    do {
      cursor = reader.read(cursor);
    } while (cursor != null);
  }

  private interface PageReader {
    ByteString read(ByteString cursor) throws IOException;
  }

  private interface RemoteCall<T> {
    T run() throws ServiceException;
  }

  private static <T> T call(RemoteCall<T> remote) throws IOException {
    try {
      return remote.run();
    } catch (ServiceException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e);
    }
  }

  static <K, T> Map<K, Long> countBy(List<T> items, Function<T, K> key) {
    return items.stream().collect(Collectors.groupingBy(key, Collectors.counting()));
  }

  @Override
  public void close() {
    client.close();
  }
}
