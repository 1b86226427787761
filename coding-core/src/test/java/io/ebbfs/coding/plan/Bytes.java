package io.ebbfs.coding.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** Stripes of real bytes, computed the slow and obvious way. */
public final class Bytes {
  private Bytes() {}

  public static Map<Integer, byte[]> randomStripe(
      ErasureCode code, Set<Integer> data, Random random) {
    Map<Integer, byte[]> stripe = new TreeMap<>();
    for (int d : data) {
      byte[] block = new byte[1 + random.nextInt(40)];
      random.nextBytes(block);
      stripe.put(d, block);
    }
    return withParities(code, stripe);
  }

  /** All blocks of the same length. */
  public static Map<Integer, byte[]> randomStripe(
      ErasureCode code, Set<Integer> data, Random random, int bytes) {
    Map<Integer, byte[]> stripe = new TreeMap<>();
    for (int d : data) {
      byte[] block = new byte[bytes];
      random.nextBytes(block);
      stripe.put(d, block);
    }
    return withParities(code, stripe);
  }

  private static Map<Integer, byte[]> withParities(ErasureCode code, Map<Integer, byte[]> data) {
    Map<Integer, byte[]> stripe = new TreeMap<>(data);
    for (int p : code.occupied(data.keySet())) {
      if (code.position(p).isParity()) {
        stripe.put(p, parity(code, stripe, p));
      }
    }
    return stripe;
  }

  private static byte[] parity(ErasureCode code, Map<Integer, byte[]> stripe, int position) {
    long length = code.lengthBytes(position, d -> stripe.containsKey(d) ? stripe.get(d).length : 0);
    byte[] parity = new byte[Math.toIntExact(length)];
    for (int d = 0; d < code.dataCount(); d++) {
      if (stripe.containsKey(d)) {
        byte[] block = stripe.get(d);
        for (int i = 0; i < Math.min(block.length, parity.length); i++) {
          parity[i] ^= (byte) Gf256.multiply(code.generator().get(position, d), block[i] & 0xff);
        }
      }
    }
    return parity;
  }

  public static void assertConsistent(ErasureCode code, Map<Integer, byte[]> stripe) {
    List<Integer> data = stripe.keySet().stream().filter(p -> p < code.dataCount()).toList();
    assertThat(stripe.keySet()).isEqualTo(code.occupied(data));
    for (int p : stripe.keySet()) {
      if (code.position(p).isParity()) {
        assertThat(stripe.get(p)).as("%s", code.position(p)).isEqualTo(parity(code, stripe, p));
      }
    }
  }

  /** What a chunk server does: shorter sources end in zeros, longer ones are cut. */
  public static Map<BlockRef, byte[]> run(
      CombinePlan plan, Function<BlockRef, byte[]> source, ToIntFunction<BlockRef> length) {
    Map<BlockRef, byte[]> results = new HashMap<>();
    for (int o = 0; o < plan.writes(); o++) {
      byte[] output = new byte[length.applyAsInt(plan.outputs().get(o))];
      for (int i = 0; i < plan.reads(); i++) {
        byte[] input = source.apply(plan.inputs().get(i));
        for (int b = 0; b < Math.min(input.length, output.length); b++) {
          output[b] ^= (byte) Gf256.multiply(plan.coefficient(o, i), input[b] & 0xff);
        }
      }
      results.put(plan.outputs().get(o), output);
    }
    return results;
  }

  public static List<Map<Integer, byte[]>> convert(
      Conversion conversion, List<Map<Integer, byte[]>> before, int stripesAfter) {
    List<Map<Integer, byte[]>> after = new ArrayList<>();
    for (int s = 0; s < stripesAfter; s++) {
      after.add(new TreeMap<>());
    }
    for (Conversion.Kept kept : conversion.kept()) {
      byte[] block = before.get(kept.before().stripe()).get(kept.before().position());
      assertThat(block).isNotNull();
      after.get(kept.after().stripe()).put(kept.after().position(), block);
    }
    for (CombinePlan plan : conversion.plans()) {
      run(
              plan,
              ref -> before.get(ref.stripe()).get(ref.position()),
              ref -> lengthAfter(conversion.to(), after.get(ref.stripe()), ref.position()))
          .forEach((ref, bytes) -> after.get(ref.stripe()).put(ref.position(), bytes));
    }
    return after;
  }

  private static int lengthAfter(ErasureCode code, Map<Integer, byte[]> stripe, int position) {
    return Math.toIntExact(
        code.lengthBytes(position, d -> stripe.containsKey(d) ? stripe.get(d).length : 0));
  }
}
