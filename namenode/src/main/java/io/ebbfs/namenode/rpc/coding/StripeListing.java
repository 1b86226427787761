package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.ProtoConverter;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Lists stripes and transitions, page by page or by id. Thread-safe. */
final class StripeListing {
  private static final int MOST_STRIPES = 1_000;
  private static final int MOST_TRANSITIONS = 10_000;
  private static final int IDS_PER_READ = 1_000;
  private static final int STRIPES_AT_ONCE = 10;

  private final MetadataStore store;
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final ProtoConverter converter;
  private final TransitionIndex index;

  StripeListing(
      MetadataStore store,
      CodeRegistry codes,
      ClusterView cluster,
      ProtoConverter converter,
      TransitionIndex index) {
    this.store = store;
    this.codes = codes;
    this.cluster = cluster;
    this.converter = converter;
    this.index = index;
  }

  /** The stripes with these ids. Ids that do not exist are left out. */
  ListStripesResponseProto stripes(ListStripesRequestProto request) throws IOException {
    ListStripesResponseProto.Builder response = ListStripesResponseProto.newBuilder();
    if (request.getStripeIdsCount() > 0) {
      if (request.getStripeIdsCount() > MOST_STRIPES) {
        throw tooMany(request.getStripeIdsCount(), MOST_STRIPES);
      }
      for (long id : request.getStripeIdsList()) {
        status(id, request.getWithLocations()).ifPresent(response::addStripes);
      }
      return response.build();
    }
    int limit = Cursor.limit(request.getLimit(), MOST_STRIPES);
    Key after = Cursor.parse(request.hasCursor(), request.getCursor());
    List<Row<StripeRow>> page = store.scanAll(Tables.STRIPE, after, limit);
    for (int from = 0; from < page.size(); from += STRIPES_AT_ONCE) {
      List<Row<StripeRow>> rows = page.subList(from, Math.min(from + STRIPES_AT_ONCE, page.size()));
      store
          .listInBackground(
              rows.get(0).value().getId(),
              transaction -> statuses(transaction, rows, request.getWithLocations()))
          .forEach(response::addStripes);
    }
    if (page.size() == limit) {
      response.setCursor(Cursor.of(page.get(page.size() - 1).key()));
    }
    return response.build();
  }

  private static IOException tooMany(int asked, int most) {
    return new IOException("%d ids in one call: send at most %d".formatted(asked, most));
  }

  private Optional<StripeStatusProto> status(long id, boolean withLocations) throws IOException {
    return store.transact(
        id,
        Durability.RELAXED,
        transaction -> {
          Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(id));
          return row.isEmpty()
              ? Optional.empty()
              : Optional.of(status(transaction, row.get(), withLocations));
        });
  }

  /** The statuses of rows of a page, which are read anew: the page may be old. */
  private List<StripeStatusProto> statuses(
      Transaction transaction, List<Row<StripeRow>> rows, boolean withLocations)
      throws IOException {
    List<Optional<StripeRow>> now =
        transaction.getAll(Tables.STRIPE, rows.stream().map(Row::key).toList());
    List<StripeStatusProto> statuses = new ArrayList<>();
    for (Optional<StripeRow> row : now) {
      if (row.isPresent()) {
        statuses.add(status(transaction, row.get(), withLocations));
      }
    }
    return statuses;
  }

  private StripeStatusProto status(Transaction transaction, StripeRow row, boolean withLocations)
      throws IOException {
    ErasureCode code = codes.byName(row.getCode());
    long live = 0;
    long dead = 0;
    long parity = 0;
    for (StripeMemberProto member : row.getMembersList()) {
      if (code.position(member.getPosition()).isParity()) {
        parity += member.getLengthBytes();
      } else if (member.getTombstone()) {
        dead += member.getLengthBytes();
      } else {
        live += member.getLengthBytes();
      }
    }
    StripeState state = StripeState.read(transaction, codes, cluster, row);
    StripeStatusProto.Builder status =
        StripeStatusProto.newBuilder()
            .setStripe(row)
            .setLiveBytes(live)
            .setDeadBytes(dead)
            .setParityBytes(parity)
            .addAllLostPositions(state.lost());
    if (row.hasTransitionId()) {
      status.setTransitionId(row.getTransitionId());
    }
    if (withLocations) {
      row.getMembersList().forEach(member -> status.addStored(stored(state, member)));
    }
    return status.build();
  }

  private StoredMemberProto stored(StripeState state, StripeMemberProto member) {
    SourceProto.Builder source =
        SourceProto.newBuilder()
            .setBlock(
                converter.block(
                    member.getBlockId(), member.getGenerationStamp(), member.getLengthBytes()));
    for (String storage : state.locations().get(member.getPosition())) {
      converter.location(storage).ifPresent(source::addLocations);
    }
    return StoredMemberProto.newBuilder()
        .setPosition(member.getPosition())
        .setBlock(source)
        .build();
  }

  /** Lists transitions by id or by state; a request with neither lists all transitions. */
  ListTransitionsResponseProto transitions(ListTransitionsRequestProto request) throws IOException {
    ListTransitionsResponseProto.Builder response = ListTransitionsResponseProto.newBuilder();
    if (request.getTransitionIdsCount() > 0) {
      if (request.getTransitionIdsCount() > MOST_TRANSITIONS) {
        throw tooMany(request.getTransitionIdsCount(), MOST_TRANSITIONS);
      }
      rows(request.getTransitionIdsList()).forEach(response::addTransitions);
      return response.build();
    }
    int limit = Cursor.limit(request.getLimit(), MOST_TRANSITIONS);
    Key after = Cursor.parse(request.hasCursor(), request.getCursor());
    return request.getStatesCount() == 0
        ? allTransitions(after, limit)
        : transitionsIn(request.getStatesList(), after == null ? 0 : after.partition(), limit);
  }

  private List<TransitionRow> rows(List<Long> ids) throws IOException {
    List<Key> keys = ids.stream().map(Tables::transition).toList();
    return store
        .transact(0, Durability.RELAXED, transaction -> transaction.getAll(Tables.TRANSITION, keys))
        .stream()
        .flatMap(Optional::stream)
        .toList();
  }

  private ListTransitionsResponseProto allTransitions(Key after, int limit) throws IOException {
    ListTransitionsResponseProto.Builder response = ListTransitionsResponseProto.newBuilder();
    List<Row<TransitionRow>> page = store.scanAll(Tables.TRANSITION, after, limit);
    page.forEach(row -> response.addTransitions(row.value()));
    if (page.size() == limit) {
      response.setCursor(Cursor.of(page.get(limit - 1).key()));
    }
    return response.build();
  }

  /** Reads the rows that the index names, and no others. */
  private ListTransitionsResponseProto transitionsIn(
      List<TransitionStateProto> states, long afterId, int limit) throws IOException {
    ListTransitionsResponseProto.Builder response = ListTransitionsResponseProto.newBuilder();
    long last = afterId;
    while (response.getTransitionsCount() < limit) {
      int wanted = Math.min(limit - response.getTransitionsCount(), IDS_PER_READ);
      List<Long> ids = index.inStates(states, last, wanted);
      if (ids.isEmpty()) {
        return response.build();
      }
      rows(ids).stream()
          .filter(row -> states.contains(row.getState()))
          .forEach(response::addTransitions);
      last = ids.get(ids.size() - 1);
    }
    return response.setCursor(Cursor.of(Tables.transition(last))).build();
  }
}
