package io.ebbfs.coding.reliability;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Random;

/**
 * How often one more lost block is fatal for a stripe, by the number of blocks that are lost
 * already. Example: after three losses of PC(2x5), one further loss is fatal with a probability of
 * 45/3060. Immutable.
 *
 * @param fatalAfter entry i is the probability that the loss of one more block is fatal, if i
 *     blocks are lost and the stripe has survived this; the average over all survived sets of i
 *     blocks. The last entry is 1
 * @param exactUpTo sets with at most this number of blocks were enumerated, larger sets sampled
 */
public record FatalShares(double[] fatalAfter, int exactUpTo) {
  private static final long ENUMERATED_AT_MOST = 1_000_000;
  private static final int SAMPLES = 200_000;
  private static final long SEED = 20_150_216; // any seed serves, the result is a statistic

  /** Tries all sets of a size if there are at most a million, and samples otherwise. */
  public static FatalShares of(ErasureCode code) {
    int n = code.size();
    int most = code.parityCount();
    double[] survived = new double[most + 2]; // by size: the share of sets that decode
    int exactUpTo = 0;
    for (int size = 0; size <= most; size++) {
      if (size <= code.tolerance()) {
        survived[size] = 1;
        exactUpTo = size;
      } else if (binomial(n, size) <= ENUMERATED_AT_MOST) {
        survived[size] = (double) countSurvived(code, size) / binomial(n, size);
        exactUpTo = size;
      } else {
        survived[size] = sampleSurvived(code, size);
      }
    }
    double[] fatal = new double[most + 1];
    for (int lost = 0; lost <= most; lost++) {
      // Every part of a set that decodes also decodes. So each survived set of lost + 1 blocks
      // arises in lost + 1 ways from survived sets of lost blocks.
      fatal[lost] = survived[lost] == 0 ? 1 : 1 - survived[lost + 1] / survived[lost];
    }
    return new FatalShares(fatal, exactUpTo);
  }

  /** The number of sets of this many lost positions that decode. */
  public static long countSurvived(ErasureCode code, int size) {
    int[] chosen = new int[size];
    for (int i = 0; i < size; i++) {
      chosen[i] = i;
    }
    long survived = 0;
    while (true) {
      if (code.decodes(chosen, size)) {
        survived++;
      }
      int i = size - 1;
      while (i >= 0 && chosen[i] == code.size() - size + i) {
        i--;
      }
      if (i < 0) {
        return survived;
      }
      chosen[i]++;
      for (int j = i + 1; j < size; j++) {
        chosen[j] = chosen[j - 1] + 1;
      }
    }
  }

  private static double sampleSurvived(ErasureCode code, int size) {
    Random random = new Random(SEED + size);
    int[] positions = new int[code.size()];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = i;
    }
    int survived = 0;
    for (int sample = 0; sample < SAMPLES; sample++) {
      for (int i = 0; i < size; i++) {
        int other = i + random.nextInt(positions.length - i);
        int swapped = positions[i];
        positions[i] = positions[other];
        positions[other] = swapped;
      }
      if (code.decodes(positions, size)) {
        survived++;
      }
    }
    return (double) survived / SAMPLES;
  }

  /** The binomial coefficient n over k. */
  public static long binomial(int n, int k) {
    long result = 1;
    for (int i = 1; i <= k; i++) {
      result = Math.multiplyExact(result, n - k + i) / i;
    }
    return result;
  }

  @Override
  public String toString() {
    return "FatalShares" + java.util.Arrays.toString(fatalAfter);
  }
}
