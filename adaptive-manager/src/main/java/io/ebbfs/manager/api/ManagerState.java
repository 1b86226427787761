package io.ebbfs.manager.api;

import io.ebbfs.manager.config.LivePolicies;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.ManagerOptions;
import io.ebbfs.manager.health.Health;
import io.ebbfs.manager.heat.DirectoryReads;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.ReadCounter;
import io.ebbfs.manager.schedule.DecisionProposer;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.manager.schedule.Timeline;
import io.ebbfs.manager.schedule.TransitionLog;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.ViewFollower;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;

/** The state of the manager that its API shows. Implementations are thread-safe. */
public interface ManagerState {
  /** The problems of this moment. */
  Health.Report health();

  /** The cluster at the last sample; null before the first sample. */
  GetClusterResponseProto cluster();

  /** The directories and addresses of the manager. */
  ManagerOptions options();

  /** The settings of the manager. */
  ManagerConfig config();

  /** The channel to the namenode. */
  NamenodeGateway namenode();

  /** The evaluations of the policies. */
  NamespaceView view();

  /** The reads of all files below a directory. */
  DirectoryReads directoryReads();

  ViewFollower follower();

  Evaluator evaluator();

  /** What the manager keeps over restarts. */
  ManagerStore store();

  /** The decisions that were proposed to the namenode. */
  DecisionProposer decisions();

  /** The transitions under way, and those that ended recently. */
  TransitionLog transitions();

  /** The samples of storage. */
  Timeline timeline();

  /** The policies in force. */
  LivePolicies policies();

  /** The state of the counting of reads. */
  ReadCounter.Status opens();

  /** The time of the manager's clock, in milliseconds since 1970. */
  long nowMillis();
}
