package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.namenode.leader.Leadership;
import io.ebbfs.namenode.peers.FollowerCalls;
import io.ebbfs.namenode.rpc.client.FileServices;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.HeartbeatResponse;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Several namenodes on one store, and the network between them, clients and chunk servers. A
 * namenode that is frozen stops in the middle of what it does: the rest of the simulation goes on
 * from within its call, and when that returns the namenode wakes up. So the namenode that was
 * frozen last wakes up first. Used by one thread.
 */
final class SimPeers implements SimNamenodes {
  private static final int CLIENT_ATTEMPTS = 6;
  private static final long PAUSE_MILLIS = 500;
  private static final byte[] CLIENT_ID = "simulated-client".getBytes(StandardCharsets.US_ASCII);
  private static final String USER = SimNamenode.caller().user();

  /** Whoever called has heard nothing. */
  private static final class NoAnswerException extends IOException {
    private static final long serialVersionUID = 1L;

    NoAnswerException(SimPeer peer) {
      super("no answer from " + peer.name());
    }
  }

  /** What the rest of the simulation does. */
  interface Outside {
    /** Other events happen, while a namenode is frozen. */
    void eventsHappen();

    /** Time passes, while a client waits. */
    void timePasses(long millis);
  }

  /** The namenode that a chunk server follows, and the highest term that it has seen. */
  private static final class Session {
    private SimPeer peer;
    private int life;
    private long term;
  }

  /** A copy of a client's call that is still on its way to some namenode. */
  private record LateCall(int id, SimClient.Call<?> call) {}

  private final List<SimPeer> peers = new ArrayList<>();
  private final SharedStore store;
  private final SimWorld world;
  private final SimNetwork network;
  private final Random random;
  private final EventCounts events;
  private final PlantedBug bug;
  private final Map<String, Session> sessions = new HashMap<>();
  private final Map<SimServer, DatanodeProtocol> datanodes = new HashMap<>();
  private final CodingProtocol coding = proxy(CodingProtocol.class, this::workerCalls);
  private final List<LateCall> lateCalls = new ArrayList<>();
  private Outside outside;
  private boolean faulty;
  private int calls;

  SimPeers(
      SharedStore store,
      List<SimPeer> peers,
      SimWorld world,
      SimNetwork network,
      Random random,
      EventCounts events,
      PlantedBug bug) {
    this.store = store;
    this.peers.addAll(peers);
    this.world = world;
    this.network = network;
    this.random = random;
    this.events = events;
    this.bug = bug;
  }

  /** Starts all namenodes; one of them leads. */
  void start(Outside rest) {
    outside = rest;
    peers.forEach(SimPeer::start);
    awaitLeader();
  }

  /** Whether answers are lost and messages come late from now on. */
  void setFaulty(boolean faults) {
    faulty = faults;
    store.setFaulty(faults);
  }

  // ---- work -------------------------------------------------------------------------------------

  /** Work of a namenode. */
  @FunctionalInterface
  private interface Work<R> {
    R run() throws Exception;
  }

  /** Has a namenode do something. No answer comes if it dies or is frozen meanwhile. */
  private <R> R ask(SimPeer peer, Work<R> work) throws Exception {
    if (!peer.answers()) {
      throw new NoAnswerException(peer);
    }
    int life = peer.lives();
    int freezes = peer.freezes();
    try {
      R answer = work.run();
      if (peer.isUp() && peer.lives() == life && peer.freezes() == freezes) {
        return answer;
      }
    } catch (CrashingStore.Crash e) {
      if (peer.lives() == life) {
        peer.die();
      }
    } catch (IOException | ServiceException e) {
      if (peer.isUp() && peer.lives() == life && peer.freezes() == freezes) {
        throw e;
      }
    }
    throw new NoAnswerException(peer);
  }

  private <R> R askForIo(SimPeer peer, Work<R> work) throws IOException {
    try {
      return ask(peer, work);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  /** Work that nobody waits for. */
  @FunctionalInterface
  private interface OwnWork {
    void run() throws IOException;
  }

  private void tell(SimPeer peer, OwnWork work) {
    try {
      ask(
          peer,
          () -> {
            work.run();
            return true;
          });
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      events.add("fault work of a namenode failed");
    }
  }

  private List<SimPeer> answering() {
    return peers.stream().filter(SimPeer::answers).toList();
  }

  /** The namenodes that believe that they lead, and answer. */
  private List<SimPeer> leaders() {
    return peers.stream().filter(peer -> peer.answers() && peer.leader() != null).toList();
  }

  private <T> T anyOf(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  @Override
  public void tick() {
    for (SimPeer peer : leaders()) {
      SimNamenode leader = peer.leader();
      if (peer.answers() && leader != null) {
        tell(peer, leader::tick);
      }
    }
  }

  /** Each namenode renews its leadership, or looks after the leader's. */
  void turns() {
    for (SimPeer peer : peers) {
      turn(peer);
    }
    long holders = peers.stream().filter(peer -> peer.isUp() && peer.leadership().holds()).count();
    if (holders > 1) {
      throw new Violation(holders + " namenodes hold the leadership at the same time");
    }
  }

  private void turn(SimPeer peer) {
    if (!peer.answers()) {
      return;
    }
    tell(peer, peer::turn);
    SimFollower follower = peer.follower();
    if (peer.answers() && follower != null) {
      tell(peer, () -> follower.askForView(writers -> view(peer, writers)));
    }
  }

  private ClusterViewProto view(SimPeer asker, List<String> writers) throws IOException {
    SimPeer leader = leaderOf(asker);
    SimNamenode leading = leader.leader();
    if (leading == null) {
      throw new StandbyException(leader.name() + " does not lead");
    }
    return askForIo(leader, () -> leading.view(writers));
  }

  /** The namenode that another one follows. If its process has ended, its machine says so. */
  private SimPeer leaderOf(SimPeer follower) throws IOException {
    Optional<Leadership.Leader> known = follower.leadership().otherLeader();
    SimPeer leader =
        peers.stream()
            .filter(peer -> known.filter(l -> l.address().equals(peer.name())).isPresent())
            .findFirst()
            .orElseThrow(() -> new RetriableException("no namenode leads"));
    if (!leader.isUp()) {
      follower.leadership().noteEnd(known.get());
      throw new RetriableException(leader.name() + " refuses connections");
    }
    return leader;
  }

  private SimNamenode anyLeader() {
    return leaders().stream()
        .map(SimPeer::leader)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no namenode leads"));
  }

  // ---- clients ----------------------------------------------------------------------------------

  @Override
  public SimClient.Namenode forClients() {
    return new SimClient.Namenode() {
      @Override
      public <R> R call(SimClient.Call<R> call) throws IOException {
        return clientCalls(call);
      }

      @Override
      public void renewLease(String writer) {
        List<SimPeer> choice = answering();
        if (!choice.isEmpty()) {
          renew(anyOf(choice), writer);
        }
      }

      @Override
      public boolean isTight() {
        return world.isTight();
      }
    };
  }

  private static void renew(SimPeer peer, String writer) {
    if (peer.leader() != null) {
      peer.leader().files().leases().renew(writer);
    } else if (peer.follower() != null) {
      peer.follower().hear(writer);
    }
  }

  /** A client calls one namenode, and another one if no answer comes. */
  private <R> R clientCalls(SimClient.Call<R> call) throws IOException {
    int id = calls++;
    IOException last = null;
    for (int attempt = 0; attempt < CLIENT_ATTEMPTS; attempt++) {
      if (attempt > 1) {
        outside.timePasses(PAUSE_MILLIS);
      }
      List<SimPeer> choice = answering();
      if (choice.isEmpty()) {
        continue;
      }
      SimPeer peer = anyOf(choice);
      boolean repeated = attempt > 0;
      try {
        R answer = askForIo(peer, () -> serve(peer, call, once(id, repeated)));
        if (faulty && random.nextInt(10) == 0) {
          events.add("fault call of a client doubled");
          last = new NoAnswerException(peer);
          continue;
        }
        if (faulty && random.nextInt(10) == 0) {
          lateCalls.add(new LateCall(id, call));
        }
        return answer;
      } catch (StandbyException
          | RetriableException
          | NoAnswerException
          | SharedStore.OutcomeUnknownException e) {
        last = e;
      }
    }
    // The call may have taken effect. From now on it does not.
    lateCalls.removeIf(late -> late.id() == id);
    store.decideAll();
    throw last == null ? new RetriableException("no namenode answers") : last;
  }

  private ClientCall once(int id, boolean repeated) {
    return bug == PlantedBug.RUNS_DOUBLED_CALLS
        ? null
        : ClientCall.of(CLIENT_ID, id, USER, repeated).orElseThrow();
  }

  private <R> R serve(SimPeer peer, SimClient.Call<R> call, ClientCall once) throws IOException {
    if (peer.leader() != null) {
      return atLeader(peer, call, once);
    }
    SimFollower follower = peer.follower();
    if (follower == null || !follower.isReady()) {
      throw new StandbyException(peer.name() + " knows no leader");
    }
    if (peer.leadership().changes() == Leadership.Changes.UNKNOWN) {
      return forward(peer, call, once);
    }
    try {
      return run(call, follower.files(), once);
    } catch (IOException e) {
      if (FollowerCalls.mayEndOtherwiseAtLeader(e)) {
        return forward(peer, call, once);
      }
      throw e;
    }
  }

  private <R> R forward(SimPeer from, SimClient.Call<R> call, ClientCall once) throws IOException {
    SimPeer leader = leaderOf(from);
    if (leader.leader() == null) {
      throw new RetriableException(leader.name() + " does not lead");
    }
    return askForIo(leader, () -> atLeader(leader, call, once));
  }

  private static <R> R atLeader(SimPeer peer, SimClient.Call<R> call, ClientCall once)
      throws IOException {
    peer.requireTerm();
    return run(call, peer.leader().files(), once);
  }

  private static <R> R run(SimClient.Call<R> call, FileServices files, ClientCall once)
      throws IOException {
    return ClientCall.run(once, () -> call.run(files, SimNamenode.caller()));
  }

  /** A copy of a call arrives that its client has sent to another namenode, too. */
  private void lateCallArrives() {
    if (lateCalls.isEmpty() || answering().isEmpty()) {
      return;
    }
    LateCall late = lateCalls.remove(random.nextInt(lateCalls.size()));
    SimPeer peer = anyOf(answering());
    events.add("fault call of a client arrives late");
    tell(peer, () -> serve(peer, late.call(), once(late.id(), false)));
  }

  @Override
  public void reportBadByClient(SimBlock block, String storageUuid) throws IOException {
    for (SimPeer peer : leaders()) {
      SimNamenode leader = peer.leader();
      tell(peer, () -> leader.reportBadByClient(block, storageUuid));
    }
  }

  // ---- chunk servers and raid-nodes -------------------------------------------------------------

  @Override
  public DatanodeProtocol datanodes(SimServer server) {
    return datanodes.computeIfAbsent(
        server,
        from ->
            proxy(
                DatanodeProtocol.class,
                (method, arguments) -> serverCalls(from, method, arguments)));
  }

  /** A call by its method. */
  @FunctionalInterface
  private interface Calls {
    Object call(Method method, Object[] arguments) throws Exception;
  }

  private static <T> T proxy(Class<T> type, Calls calls) {
    return type.cast(
        Proxy.newProxyInstance(
            SimPeers.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> calls.call(method, arguments)));
  }

  private static Object invoke(Object target, Method method, Object[] arguments) throws Exception {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (Exception) e.getCause();
    }
  }

  private Object serverCalls(SimServer server, Method method, Object[] arguments) throws Exception {
    Session session = sessions.computeIfAbsent(server.uuid(), uuid -> new Session());
    if (!isServed(server, session)) {
      follow(server, session);
      if (!method.getName().equals("versionRequest")) {
        throw new IOException(server.uuid() + " follows another namenode");
      }
    }
    SimPeer peer = session.peer;
    SimNamenode leader = peer.leader();
    Object answer = ask(peer, () -> invoke(leader.datanodes(server), method, arguments));
    if (answer instanceof HeartbeatResponse response) {
      obey(server, session, response);
    }
    return answer;
  }

  private boolean isServed(SimServer server, Session session) {
    return session.peer != null
        && session.peer.lives() == session.life
        && serves(server, session.peer);
  }

  private boolean serves(SimServer server, SimPeer peer) {
    return peer.answers() && peer.leader() != null && !network.isCut(server.uuid(), peer.name());
  }

  /** The server asks the namenodes in turn, and follows the first one that serves. */
  private void follow(SimServer server, Session session) throws IOException {
    int first = random.nextInt(peers.size());
    for (int i = 0; i < peers.size(); i++) {
      SimPeer peer = peers.get((first + i) % peers.size());
      if (serves(server, peer)) {
        session.peer = peer;
        session.life = peer.lives();
        server.leaveNamenode();
        return;
      }
    }
    throw new IOException("no namenode serves " + server.uuid());
  }

  /** The server obeys no answer of an earlier term, and leaves that namenode. */
  private void obey(SimServer server, Session session, HeartbeatResponse response)
      throws IOException {
    long term = response.getNameNodeHaState().getTxId();
    if (term < session.term && bug != PlantedBug.OBEYS_FORMER_LEADERS) {
      session.peer = null;
      server.leaveNamenode();
      throw new IOException("an answer of an earlier term");
    }
    session.term = Math.max(session.term, term);
  }

  @Override
  public CodingProtocol coding() {
    return coding;
  }

  private Object workerCalls(Method method, Object[] arguments) throws Exception {
    List<SimPeer> choice = leaders();
    try {
      if (choice.isEmpty()) {
        throw new StandbyException("no namenode leads");
      }
      SimPeer peer = anyOf(choice);
      SimNamenode leader = peer.leader();
      return ask(peer, () -> invoke(leader.coding(), method, arguments));
    } catch (IOException e) {
      throw new ServiceException(e);
    }
  }

  // ---- what the oracle asks ---------------------------------------------------------------------

  /** Without a leader nobody knows of a loss. */
  @Override
  public boolean believesInService(String storageUuid) {
    List<SimPeer> leaders = peers.stream().filter(peer -> peer.leader() != null).toList();
    return leaders.isEmpty()
        || leaders.stream().anyMatch(peer -> peer.leader().believesInService(storageUuid));
  }

  @Override
  public String blockPoolId() {
    return anyLeader().blockPoolId();
  }

  @Override
  public List<Finding> check() throws IOException {
    return anyLeader().check();
  }

  // ---- faults -----------------------------------------------------------------------------------

  /**
   * Lets a fault strike one of the namenodes, or a call or commit that is on its way. Returns the
   * name of the fault.
   */
  String fault() throws IOException {
    SimPeer peer = anyOf(peers);
    if (peer.leader() == null && random.nextBoolean() && !leaders().isEmpty()) {
      peer = anyOf(leaders());
    }
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3 -> {
        return strikeSoon(peer, true);
      }
      case 4 -> {
        return strikeSoon(peer, false);
      }
      case 5 -> {
        return cutOrHeal(peer);
      }
      case 6 -> {
        return stopOrStart(peer);
      }
      case 7, 8 -> store.decideOne();
      case 9, 10 -> lateCallArrives();
      default -> turn(peer);
    }
    return "";
  }

  /** A namenode is frozen, or dies, in one of its next transactions. */
  private String strikeSoon(SimPeer peer, boolean freezes) {
    if (!peer.answers()) {
      return "";
    }
    SharedStore.Moment moment = anyOf(List.of(SharedStore.Moment.values()));
    peer.store()
        .strikeAfter(
            random.nextInt(8),
            moment,
            freezes
                ? () -> freeze(peer)
                : () -> {
                  events.add("fault namenode died at a transaction");
                  throw new CrashingStore.Crash();
                });
    return "%s %s soon, %s".formatted(peer.name(), freezes ? "freezes" : "dies", moment);
  }

  /** A namenode dies in one of its next transactions. */
  void crashSoon() {
    List<SimPeer> choice = answering();
    if (!choice.isEmpty()) {
      strikeSoon(anyOf(choice), false);
    }
  }

  private void freeze(SimPeer peer) {
    if (answering().size() < 2) {
      return;
    }
    events.add("fault " + (peer.leader() == null ? "follower" : "leader") + " frozen");
    boolean led = peer.leader() != null;
    peer.freeze();
    try {
      ClientCall.run(
          null,
          () -> {
            outside.eventsHappen();
            return true;
          });
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    peer.thaw();
    if (led && leaders().size() > 1) {
      events.add("fault former leader wakes up while another one leads");
    }
    if (random.nextInt(6) == 0) {
      throw new CrashingStore.Crash();
    }
  }

  private String cutOrHeal(SimPeer peer) {
    if (!peer.answers()) {
      return "";
    }
    boolean cut = !peer.store().isCut();
    peer.store().setCut(cut);
    if (cut) {
      events.add("fault namenode cut off from the store");
    }
    return peer.name() + (cut ? " is cut off from" : " reaches") + " the store";
  }

  private String stopOrStart(SimPeer peer) {
    if (!peer.isUp()) {
      peer.start();
      return peer.name() + " starts";
    }
    if (!peer.answers() || answering().size() < 2) {
      return "";
    }
    boolean dies = random.nextBoolean();
    events.add(dies ? "fault namenode dies" : "fault namenode stops");
    if (dies) {
      peer.die();
    } else {
      tell(peer, peer::stop);
    }
    return peer.name() + (dies ? " dies" : " stops");
  }

  /** A namenode restarts, a leader mostly. */
  void restartOne() {
    List<SimPeer> choice = random.nextInt(4) > 0 && !leaders().isEmpty() ? leaders() : answering();
    if (!choice.isEmpty()) {
      restart(anyOf(choice));
    }
  }

  private static void restart(SimPeer peer) {
    peer.die();
    peer.start();
  }

  /** The machines of all namenodes crash and start again. The store is on other machines. */
  void restartAll() {
    answering().forEach(SimPeers::restart);
    awaitLeader();
  }

  /** All faults end, everything on its way arrives, and one namenode leads. */
  void settle() throws IOException {
    setFaulty(false);
    for (SimPeer peer : peers) {
      if (!peer.isUp()) {
        peer.start();
      }
      peer.store().setCut(false);
      peer.store().disarm();
    }
    store.decideAll();
    while (!lateCalls.isEmpty()) {
      lateCallArrives();
    }
    awaitLeader();
  }

  private void awaitLeader() {
    for (int i = 0; i < 20; i++) {
      turns();
      if (peers.stream().filter(SimPeer::isUp).anyMatch(peer -> peer.leadership().holds())
          && leaders().size() == 1
          && leaders().get(0).leadership().holds()) {
        turns();
        return;
      }
      outside.timePasses(PAUSE_MILLIS);
    }
    if (!faulty) {
      throw new Violation(
          "all namenodes run, and %d of them lead: %s"
              .formatted(leaders().size(), leaders().stream().map(SimPeer::name).toList()));
    }
  }
}
