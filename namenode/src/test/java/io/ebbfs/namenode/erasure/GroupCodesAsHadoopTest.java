package io.ebbfs.namenode.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.io.erasurecode.CodecUtil;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.apache.hadoop.io.erasurecode.rawcoder.RawErasureEncoder;
import org.junit.jupiter.api.Test;

/** The codes of block groups compute the parities that Hadoop's encoders compute. */
class GroupCodesAsHadoopTest {
  private static final int BYTES = 64;

  @Test
  void everyPolicyHasTheParitiesOfHadoop() throws IOException {
    long seed = Long.getLong("seed", new Random().nextLong());
    System.out.println("seed " + seed);
    for (ErasureCodingPolicy policy : SystemErasureCodingPolicies.getPolicies()) {
      ErasureCode code = Codes.byName(new BlockGroupLayout(policy).codeName());
      assertThat(code.dataCount()).isEqualTo(policy.getNumDataUnits());
      assertThat(code.parityCount()).isEqualTo(policy.getNumParityUnits());
      assertThat(code.tolerance()).isEqualTo(policy.getNumParityUnits());
      byte[][] data = new byte[policy.getNumDataUnits()][BYTES];
      Random random = new Random(seed);
      for (byte[] block : data) {
        random.nextBytes(block);
      }
      assertThat(ours(code, data)).as("%s, seed %d", policy, seed).isEqualTo(hadoop(policy, data));
    }
  }

  private static byte[][] hadoop(ErasureCodingPolicy policy, byte[][] data) throws IOException {
    RawErasureEncoder encoder =
        CodecUtil.createRawEncoder(
            new Configuration(),
            policy.getCodecName(),
            new ErasureCoderOptions(policy.getNumDataUnits(), policy.getNumParityUnits()));
    byte[][] parities = new byte[policy.getNumParityUnits()][BYTES];
    encoder.encode(data, parities);
    return parities;
  }

  private static byte[][] ours(ErasureCode code, byte[][] data) {
    byte[][] parities = new byte[code.parityCount()][BYTES];
    for (int p = 0; p < parities.length; p++) {
      for (int d = 0; d < data.length; d++) {
        int coefficient = code.generator().get(code.dataCount() + p, d);
        Gf256.addMultiple(parities[p], coefficient, data[d]);
      }
    }
    return parities;
  }
}
