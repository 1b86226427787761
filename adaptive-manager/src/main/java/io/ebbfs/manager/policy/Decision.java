package io.ebbfs.manager.policy;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.List;

/**
 * A transition to propose. ENCODE names files; UPCODE and DOWNCODE name stripes.
 *
 * @param single of an ENCODE: the code is kept, the stripes need not be placed to merge
 */
public record Decision(
    TransitionKindProto kind,
    List<Long> fileIds,
    List<Long> stripeIds,
    String toCode,
    String policy,
    String reason,
    long dataBytes,
    boolean single) {}
