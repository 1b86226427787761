import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkProtocolService;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import java.io.BufferedReader;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Hadoop's own RPC against ours, both ways: {@code java -cp <classpath> RpcInterop.java PEER} where
 * PEER is the program built from rpc_interop.cc. Exits with 0 if all agrees.
 */
public final class RpcInterop {
  private static final int THREADS = 8;
  private static final int CALLS = 100;

  public static void main(String[] arguments) {
    int exit = 1;
    try {
      run(arguments[0]);
      System.out.println("RPC agrees with Hadoop's in both directions");
      exit = 0;
    } catch (Throwable e) {
      e.printStackTrace();
    }
    System.exit(exit); // Hadoop's threads would keep the process alive
  }

  private static void run(String peer) throws Exception {
    Configuration conf = new Configuration();
    conf.setInt("ipc.ping.interval", 50);
    conf.setInt("ipc.client.connect.max.retries", 0);
    RPC.setProtocolEngine(conf, ChunkProtocol.class, ProtobufRpcEngine2.class);
    RPC.setProtocolEngine(conf, CodingProtocol.class, ProtobufRpcEngine2.class);
    javaCallsOurServer(conf, peer);
    ourClientCallsJava(conf, peer, "call", null);
    Configuration authenticated = new Configuration(conf);
    authenticated.set("hadoop.security.authentication", "token");
    ourClientCallsJava(authenticated, peer, "authenticate", new Tokens());
  }

  // ---- Hadoop's client, our server --------------------------------------------------------------

  private static void javaCallsOurServer(Configuration conf, String peer) throws Exception {
    Process server =
        new ProcessBuilder(peer, "serve").redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      BufferedReader out = new BufferedReader(new InputStreamReader(server.getInputStream()));
      InetSocketAddress address =
          new InetSocketAddress("127.0.0.1", Integer.parseInt(out.readLine()));
      ChunkProtocol chunk =
          RPC.getProtocolProxy(ChunkProtocol.class, ChunkProtocol.VERSION, address, conf)
              .getProxy();
      expect("echo", combine(chunk, "echo").getMessage());
      expect(System.getProperty("user.name"), combine(chunk, "user").getMessage());
      expectRemote("java.io.IOException", "the disk is full", () -> combine(chunk, "fail"));
      RemoteException missing =
          expectRemote("java.io.FileNotFoundException", "gone", () -> combine(chunk, "missing"));
      expect(FileNotFoundException.class, missing.unwrapRemoteException().getClass());
      expectRemote(
          "org.apache.hadoop.ipc.RpcNoSuchMethodException",
          "verify",
          () -> chunk.verify(null, VerifyRequestProto.getDefaultInstance()));
      CodingProtocol coding =
          RPC.getProtocolProxy(CodingProtocol.class, CodingProtocol.VERSION, address, conf)
              .getProxy();
      expectRemote(
          "org.apache.hadoop.ipc.RpcNoSuchProtocolException",
          CodingProtocol.NAME,
          () -> coding.getCluster(null, GetClusterRequestProto.getDefaultInstance()));
      concurrentCalls(chunk);
      slowCallIsOvertaken(chunk);
      RPC.stopProxy(chunk);
    } finally {
      server.getOutputStream().close(); // its sign to end
      if (!server.waitFor(20, TimeUnit.SECONDS)) {
        server.destroyForcibly();
        throw new AssertionError("our server did not stop");
      }
    }
    expect(0, server.exitValue());
  }

  private static void concurrentCalls(ChunkProtocol chunk) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    List<Future<?>> results = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      String prefix = "x".repeat(1 + t * 3000);
      results.add(
          pool.submit(
              () -> {
                for (int i = 0; i < CALLS; i++) {
                  expect(prefix + i, combine(chunk, prefix + i).getMessage());
                }
                return null;
              }));
    }
    for (Future<?> result : results) {
      result.get();
    }
    pool.shutdown();
  }

  /** The slow call ends only after another call of the same connection was answered. */
  private static void slowCallIsOvertaken(ChunkProtocol chunk) throws Exception {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    Future<String> slow = pool.submit(() -> combine(chunk, "slow").getMessage());
    ChunkStatusRequestProto none = ChunkStatusRequestProto.getDefaultInstance();
    while (chunk.status(null, none).getCombinesRunning() == 0) {
      Thread.onSpinWait();
    }
    // Several ping intervals of silence on our side.
    for (int i = 0; i < 5; i++) {
      if (slow.isDone()) {
        throw new AssertionError("the slow call ended before it was released");
      }
      try {
        slow.get(100, TimeUnit.MILLISECONDS);
      } catch (java.util.concurrent.TimeoutException expected) {
        // it waits
      }
    }
    expect("released", combine(chunk, "release").getMessage());
    expect("slow", slow.get());
    pool.shutdown();
  }

  private static CombineResponseProto combine(ChunkProtocol chunk, String id)
      throws ServiceException {
    return chunk.combine(
        null, CombineRequestProto.newBuilder().setId(id).setCoefficients(ByteString.EMPTY).build());
  }

  // ---- our client, Hadoop's server --------------------------------------------------------------

  private static void ourClientCallsJava(
      Configuration conf, String peer, String command, Tokens tokens) throws Exception {
    RPC.Server server =
        new RPC.Builder(conf)
            .setProtocol(ChunkProtocol.class)
            .setInstance(ChunkProtocolService.newReflectiveBlockingService(new Peer()))
            .setBindAddress("127.0.0.1")
            .setPort(0)
            .setNumHandlers(4)
            .setSecretManager(tokens)
            .build();
    server.start();
    Process client =
        new ProcessBuilder(peer, command, Integer.toString(server.getListenerAddress().getPort()))
            .inheritIO()
            .start();
    if (!client.waitFor(60, TimeUnit.SECONDS)) {
      client.destroyForcibly();
      throw new AssertionError("our client hangs");
    }
    expect(0, client.exitValue());
    server.stop();
  }

  /** The identifier of a token is the name of its user. */
  private static final class UserToken extends TokenIdentifier {
    private final Text user = new Text();

    @Override
    public Text getKind() {
      return new Text("USER");
    }

    @Override
    public UserGroupInformation getUser() {
      return UserGroupInformation.createRemoteUser(user.toString());
    }

    @Override
    public void write(DataOutput out) throws IOException {
      user.write(out);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      user.readFields(in);
    }
  }

  /** All tokens have one password. */
  private static final class Tokens extends SecretManager<UserToken> {
    @Override
    protected byte[] createPassword(UserToken token) {
      return "secret".getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] retrievePassword(UserToken token) {
      return createPassword(token);
    }

    @Override
    public UserToken createIdentifier() {
      return new UserToken();
    }
  }

  private static final class Peer implements ChunkProtocolService.BlockingInterface {
    private final CountDownLatch released = new CountDownLatch(1);

    @Override
    public CombineResponseProto combine(RpcController unused, CombineRequestProto request)
        throws ServiceException {
      String answer = request.getId();
      try {
        switch (request.getId()) {
          case "user" -> answer = Server.getRemoteUser().getUserName();
          case "call" -> answer = Server.getCallId() + "/" + Server.getCallRetryCount();
          case "client" -> answer = Integer.toString(Server.getClientId().length);
          case "missing" -> throw new FileNotFoundException("gone");
          case "slow" -> released.await();
          case "release" -> released.countDown();
          default -> {}
        }
      } catch (IOException | InterruptedException e) {
        throw new ServiceException(e);
      }
      return CombineResponseProto.newBuilder()
          .setStatus(CombineStatusProto.COMBINE_OK)
          .setMessage(answer)
          .build();
    }

    @Override
    public VerifyResponseProto verify(RpcController unused, VerifyRequestProto request)
        throws ServiceException {
      throw new ServiceException(new UnsupportedOperationException("not here"));
    }

    @Override
    public ChunkStatusResponseProto status(RpcController unused, ChunkStatusRequestProto request) {
      return ChunkStatusResponseProto.getDefaultInstance();
    }
  }

  // ---- checks -----------------------------------------------------------------------------------

  private interface Call {
    Object run() throws ServiceException;
  }

  private static RemoteException expectRemote(String javaClass, String message, Call call) {
    try {
      call.run();
    } catch (ServiceException e) {
      RemoteException remote = (RemoteException) e.getCause();
      expect(javaClass, remote.getClassName());
      if (!remote.getMessage().contains(message)) {
        throw new AssertionError("'" + remote.getMessage() + "' lacks '" + message + "'");
      }
      return remote;
    }
    throw new AssertionError("no " + javaClass + " was thrown");
  }

  private static void expect(Object wanted, Object actual) {
    if (!wanted.equals(actual)) {
      throw new AssertionError("wanted " + wanted + ", was " + actual);
    }
  }
}
