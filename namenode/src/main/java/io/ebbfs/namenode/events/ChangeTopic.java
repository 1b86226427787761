package io.ebbfs.namenode.events;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topic of changes in Kafka. Its records are on the disk before Kafka acknowledges them: the
 * namenode forgets a change once it is acknowledged, so a broker that loses its last records with
 * the power would hide changes from followers for ever. A topic that exists is set so, too.
 * Thread-safe.
 */
final class ChangeTopic {
  private static final Logger LOG = LoggerFactory.getLogger(ChangeTopic.class);
  private static final int WAIT_MILLIS = 4_000;
  private static final String EACH_RECORD = "1";

  /** What {@link #ensure} does once. */
  @FunctionalInterface
  interface Setting {
    void run() throws InterruptedException, ExecutionException;
  }

  private final Setting setting;
  // The first one that sets the topic, and how that ends; null before it, and after a failure.
  private CompletableFuture<Void> attempt;

  ChangeTopic(String brokers, String name) {
    this(() -> set(brokers, name));
  }

  ChangeTopic(Setting setting) {
    this.setting = setting;
  }

  /**
   * Makes or sets the topic unless that was done since the last {@link #forget}. Each of two calls
   * to the brokers waits for at most 4 s; whoever comes meanwhile waits for the same calls. Brokers
   * that do not allow it are left as they are, with a warning.
   *
   * @throws ExecutionException if the brokers do not answer
   */
  void ensure() throws InterruptedException, ExecutionException {
    CompletableFuture<Void> mine = new CompletableFuture<>();
    CompletableFuture<Void> first;
    synchronized (this) {
      first = attempt == null ? mine : attempt;
      attempt = first;
    }
    if (first == mine) {
      set(mine);
    }
    first.get();
  }

  private void set(CompletableFuture<Void> result) throws InterruptedException {
    try {
      setting.run();
      result.complete(null);
    } catch (ExecutionException e) {
      fail(result, e.getCause());
    } catch (InterruptedException | RuntimeException | Error e) {
      fail(result, e);
      throw e;
    }
  }

  private void fail(CompletableFuture<Void> result, Throwable why) {
    synchronized (this) {
      attempt = null;
    }
    result.completeExceptionally(why);
  }

  private static void set(String brokers, String name)
      throws InterruptedException, ExecutionException {
    Map<String, Object> settings =
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
            brokers,
            AdminClientConfig.CLIENT_ID_CONFIG,
            "ebbfs-namenode-topic",
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            WAIT_MILLIS,
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
            WAIT_MILLIS);
    Admin admin = Admin.create(settings);
    try {
      makeOrSet(admin, name);
    } catch (ExecutionException e) {
      if (!isRefusal(e.getCause())) {
        throw e;
      }
      LOG.warn(
          "Kafka does not let the namenode set {}={} for topic {} ({}): set it by hand, or"
              + " followers may miss changes after a broker has lost its power",
          TopicConfig.FLUSH_MESSAGES_INTERVAL_CONFIG,
          EACH_RECORD,
          name,
          e.getCause().getMessage());
    } finally {
      admin.close(Duration.ZERO);
    }
  }

  /** The topic may be another one, or be set otherwise, once the brokers are back. */
  synchronized void forget() {
    if (attempt != null && attempt.isDone()) {
      attempt = null;
    }
  }

  private static void makeOrSet(Admin admin, String name)
      throws InterruptedException, ExecutionException {
    NewTopic topic =
        new NewTopic(name, Optional.of(1), Optional.empty())
            .configs(Map.of(TopicConfig.FLUSH_MESSAGES_INTERVAL_CONFIG, EACH_RECORD));
    try {
      admin.createTopics(List.of(topic)).all().get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw e;
      }
      ConfigEntry entry = new ConfigEntry(TopicConfig.FLUSH_MESSAGES_INTERVAL_CONFIG, EACH_RECORD);
      admin
          .incrementalAlterConfigs(
              Map.of(
                  new ConfigResource(ConfigResource.Type.TOPIC, name),
                  List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
          .all()
          .get();
    }
  }

  private static boolean isRefusal(Throwable cause) {
    return cause instanceof AuthorizationException
        || cause instanceof PolicyViolationException
        || cause instanceof UnsupportedVersionException;
  }
}
