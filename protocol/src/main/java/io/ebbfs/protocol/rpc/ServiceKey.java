package io.ebbfs.protocol.rpc;

import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.ipc.CallerContext;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.security.AccessControlException;

/**
 * The secret that the services of a cluster share. It proves that a call of CodingProtocol or
 * ChunkProtocol comes from a service: the caller context of the call's RPC header carries a random
 * number and HMAC-SHA-256(key, protocol, number), so the key itself never travels. See
 * docs/security.md. Immutable and thread-safe.
 */
public final class ServiceKey {
  /** No key: calls are not signed, and only callers on this machine are answered. */
  public static final ServiceKey NONE = new ServiceKey("", "");

  /** The configuration key, as messages name it. */
  public static final String SETTING = "serviceKey";

  private static final int NONCE_BYTES = 16;
  private static final String CONTEXT = "ebbfs-service-1";
  private static final String ALGORITHM = "HmacSHA256";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String secret;
  private final String place;

  private ServiceKey(String secret, String place) {
    this.secret = secret;
    this.place = place;
  }

  /** The key in a {@link SecretFile}. */
  public static ServiceKey read(Path file) throws IOException {
    return new ServiceKey(SecretFile.read(SETTING, file), file.toString());
  }

  /** The same; no key if the name is empty. */
  public static ServiceKey readIfNamed(String file) throws IOException {
    return file.isBlank() ? NONE : read(Path.of(file));
  }

  /** A key that was handed over in another way than by a file; {@code place} is for messages. */
  public static ServiceKey of(String secret, String place) {
    return secret.isEmpty() ? NONE : new ServiceKey(secret, place);
  }

  public boolean isPresent() {
    return !secret.isEmpty();
  }

  /** The key itself, to be handed to another service in a safe way. */
  public String secret() {
    return secret;
  }

  // ---- the caller's side ------------------------------------------------------------------------

  /** A new proof for calls of a protocol. */
  public CallerContext proof(String protocol) {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    String context = CONTEXT + " " + HexFormat.of().formatHex(nonce);
    return new CallerContext.Builder(context).setSignature(mac(protocol, context)).build();
  }

  /** A proxy that signs each call and passes it on. {@link RPC#stopProxy} stops both. */
  <P> P signing(Class<P> type, P proxy) {
    if (!isPresent()) {
      return proxy;
    }
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            new Signer(proxy, proof(RPC.getProtocolName(type)))));
  }

  /** Puts the proof into the context of the calling thread, from which the RPC client takes it. */
  private record Signer(Object proxy, CallerContext proof) implements InvocationHandler, Closeable {
    @Override
    public Object invoke(Object self, Method method, Object[] arguments) throws Throwable {
      CallerContext before = CallerContext.getCurrent();
      CallerContext.setCurrent(proof);
      try {
        return method.invoke(proxy, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      } finally {
        CallerContext.setCurrent(before);
      }
    }

    @Override
    public void close() {
      RPC.stopProxy(proxy);
    }
  }

  // ---- the server's side ------------------------------------------------------------------------

  /**
   * Refuses a call without the right proof.
   *
   * @param context of the call; null if it has none
   * @param peer the caller's address; null if the call was made within this process
   * @throws AccessControlException that names the key and its file
   */
  public void check(String protocol, CallerContext context, InetAddress peer)
      throws AccessControlException {
    if (!isPresent()) {
      if (peer == null || peer.isLoopbackAddress()) {
        return;
      }
      throw new AccessControlException(
          "%s is refused for %s: this server has no service key, so that it answers this protocol"
                  .formatted(protocol, peer.getHostAddress())
              + " on its own machine only; set serviceKey in its configuration");
    }
    byte[] signature = context == null ? null : context.getSignature();
    if (signature == null || context.getContext() == null) {
      throw refusal(protocol, peer, "no");
    }
    if (!context.getContext().startsWith(CONTEXT)
        || !MessageDigest.isEqual(signature, mac(protocol, context.getContext()))) {
      throw refusal(protocol, peer, "another");
    }
  }

  private AccessControlException refusal(String protocol, InetAddress peer, String which) {
    return new AccessControlException(
        "%s is refused for %s: the call has %s service key; give the caller the key of this server,"
                .formatted(protocol, peer == null ? "this process" : peer.getHostAddress(), which)
            + " the file %s (serviceKey, --service-key)".formatted(place));
  }

  private byte[] mac(String protocol, String context) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.US_ASCII), ALGORITHM));
      return mac.doFinal((protocol + "\n" + context).getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
