package io.ebbfs.manager.policy;

/**
 * What the policy function says about one file.
 *
 * @param policy the effective policy; null for none
 * @param hot whether the file is read-hot by its policy
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
    long storedBytes) {}
