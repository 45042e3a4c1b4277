#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Nanoseconds since 1970, as `date +%s%N` prints them.
func wallClock() -> Int64 {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
