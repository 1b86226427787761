package io.ebbfs.testbed.client;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackingCost;
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
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.protocol.words.TransitionKinds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** Asks the namenode about the state of the cluster, over CodingProtocol. Thread-safe. */
public final class ClusterProbe implements AutoCloseable {
  private static final int PAGE = 2000;

  private final CodeRegistry codes;
  private final NamenodeClient client;
  private final CodingProtocol namenode;

  /** Closes the client when it is closed. */
  /**
   * A probe.
   *
   * @param codes the codes of the cluster
   */
  public ClusterProbe(CodeRegistry codes, NamenodeClient client) {
    this.codes = codes;
    this.client = client;
    this.namenode = client.coding();
  }

  /** Logical and stored bytes of one family's files, and what packing its stripes costs. */
  public record Usage(long logicalBytes, long storedBytes, PackingCost packing) {
    public double overhead() {
      return ofLogical(storedBytes);
    }

    /** Such bytes per logical byte. */
    public double ofLogical(long bytes) {
      return logicalBytes == 0 ? 0 : (double) bytes / logicalBytes;
    }
  }

  /** The cluster as the namenode sees it. */
  public GetClusterResponseProto cluster() throws IOException {
    return client.cluster();
  }

  /** The monotonic counters whose names start with the prefix, without it. */
  public Map<String, Long> counters(String prefix) throws IOException {
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
          ListFilesResponseProto page =
              RemoteCall.answerOf(() -> namenode.listFiles(null, request.build()));
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
          ListStripesResponseProto page =
              RemoteCall.answerOf(() -> namenode.listStripes(null, request.build()));
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
              RemoteCall.answerOf(() -> namenode.listTransitions(null, request.build()));
          transitions.addAll(page.getTransitionsList());
          return page.hasCursor() ? page.getCursor() : null;
        });
    return transitions;
  }

  /** The transitions that are planned or running. */
  public List<TransitionRow> active() throws IOException {
    return transitions(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING);
  }

  /** A planned or running transition in words; null if there is none. */
  public String activity() throws IOException {
    return active().stream()
        .findFirst()
        .map(
            row ->
                "transition %d (%s) is %s, attempt %d: %s"
                    .formatted(
                        row.getId(),
                        TransitionKinds.show(row.getKind()),
                        row.getState(),
                        row.getAttempt(),
                        row.getFailure()))
        .orElse(null);
  }

  /**
   * The bytes on the disks for the files below a directory and for the stripes of a policy,
   * parities and deleted members included.
   *
   * @param stripes the answer of {@link #stripes}
   */
  public Usage usage(String tree, String policy, List<StripeStatusProto> stripes)
      throws IOException {
    long logical = 0;
    long stored = 0;
    PackingCost packing = PackingCost.NONE;
    for (FileStatusProto file : files(tree)) {
      logical += file.getLengthBytes();
      stored += file.getStoredBytes();
    }
    for (StripeStatusProto stripe : stripes) {
      if (stripe.getStripe().getPolicy().equals(policy)) {
        stored += stripe.getParityBytes() + stripe.getDeadBytes();
        packing = packing.plus(packing(stripe));
      }
    }
    return new Usage(logical, stored, packing);
  }

  private PackingCost packing(StripeStatusProto stripe) {
    ErasureCode code = codes.byName(stripe.getStripe().getCode());
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

  public static <K, T> Map<K, Long> countBy(List<T> items, Function<T, K> key) {
    return items.stream().collect(Collectors.groupingBy(key, Collectors.counting()));
  }

  @Override
  public void close() {
    client.close();
  }
}
