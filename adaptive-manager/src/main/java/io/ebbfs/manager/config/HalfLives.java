package io.ebbfs.manager.config;

/**
 * After these times a read counts half.
 *
 * @param heatMillis for the temperature that thresholds are compared with
 * @param memoryMillis for the reads that are remembered to weigh conversions
 */
public record HalfLives(long heatMillis, long memoryMillis) {}
