package io.ebbfs.manager.policy;

import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.Pin;

/**
 * The state of one file, as the policy function sees it.
 *
 * @param policy the name of the file's policy; null for none
 * @param heat decayed reads
 * @param hot whether the file is read-hot by its policy, or pinned fast
 * @param pin what the user asks for
 */
public record Verdict(
    long fileId,
    String path,
    String policy,
    FileState state,
    String reason,
    double heat,
    boolean hot,
    long lengthBytes,
    long storedBytes,
    Pin pin) {}
