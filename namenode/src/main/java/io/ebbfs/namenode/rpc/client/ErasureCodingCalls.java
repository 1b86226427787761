package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.hdfs.protocol.AddErasureCodingPolicyResponse;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ECTopologyVerifierResult;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicyInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.server.common.ECTopologyVerifier;
import org.apache.hadoop.io.erasurecode.CodecRegistry;

/** The calls of ClientProtocol about erasure coding policies. */
abstract class ErasureCodingCalls extends SnapshotCalls {
  ErasureCodingCalls(
      FileServices files,
      DatanodeRegistry cluster,
      BlockCounts counts,
      FsServerDefaults defaults,
      CallContext context,
      OperatorServices operators) {
    super(cluster, counts, defaults, context, operators, files);
  }

  @Override
  public ErasureCodingPolicy getErasureCodingPolicy(String src) throws IOException {
    return files.erasureCoding().get(context.caller(), src);
  }

  @Override
  public void setErasureCodingPolicy(String src, String policy) throws IOException {
    files.erasureCoding().set(context.caller(), src, policy);
  }

  @Override
  public void unsetErasureCodingPolicy(String src) throws IOException {
    files.erasureCoding().unset(context.caller(), src);
  }

  @Override
  public ErasureCodingPolicyInfo[] getErasureCodingPolicies() throws IOException {
    return files.erasureCoding().policies().all().toArray(ErasureCodingPolicyInfo[]::new);
  }

  @Override
  public void enableErasureCodingPolicy(String name) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "enableErasureCodingPolicy");
    files.erasureCoding().policies().enable(name);
  }

  @Override
  public void disableErasureCodingPolicy(String name) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "disableErasureCodingPolicy");
    files.erasureCoding().policies().disable(name);
  }

  /** Policies of users are refused, one answer for each. */
  @Override
  public AddErasureCodingPolicyResponse[] addErasureCodingPolicies(ErasureCodingPolicy[] policies)
      throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "addErasureCodingPolicies");
    return Arrays.stream(policies)
        .map(
            policy ->
                new AddErasureCodingPolicyResponse(
                    policy,
                    "EbbFS has the policies of HDFS and no others: choose one of 'hdfs ec"
                        + " -listPolicies'"))
        .toArray(AddErasureCodingPolicyResponse[]::new);
  }

  @Override
  public void removeErasureCodingPolicy(String name) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "removeErasureCodingPolicy");
    if (BlockGroupLayout.named(name).isPresent()) {
      throw new HadoopIllegalArgumentException(
          "System erasure coding policy " + name + " cannot be removed");
    }
    throw new HadoopIllegalArgumentException("The policy name " + name + " does not exist");
  }

  @Override
  public Map<String, String> getErasureCodingCodecs() {
    return CodecRegistry.getInstance().getCodec2CoderCompactMap();
  }

  /** Whether there are servers and racks enough for these policies, or for all enabled ones. */
  @Override
  public ECTopologyVerifierResult getECTopologyResultForPolicies(String... names)
      throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "getECTopologyResultForPolicies");
    List<ErasureCodingPolicy> wanted = new ArrayList<>();
    if (names == null || names.length == 0) {
      files.erasureCoding().policies().all().stream()
          .filter(ErasureCodingPolicyInfo::isEnabled)
          .forEach(info -> wanted.add(info.getPolicy()));
    } else {
      for (String name : names) {
        wanted.add(
            BlockGroupLayout.named(name)
                .orElseThrow(
                    () ->
                        new HadoopIllegalArgumentException(
                            "The given erasure coding policy %s does not exist.".formatted(name))));
      }
    }
    DatanodeInfo[] live = getDatanodeReport(DatanodeReportType.LIVE);
    return ECTopologyVerifier.getECTopologyVerifierResult(live, wanted);
  }
}
