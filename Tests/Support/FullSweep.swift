#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Whether sweeps take every step instead of a sample (`make check-all`).
package var isFullSweep: Bool { getenv("POCKET_FULL_SWEEP") != nil }
