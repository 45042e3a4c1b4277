import CHeap
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What this process holds, as `/proc` and the heap tell it.
struct Census {
  var descriptors: Int
  var threads: Int
  /// Zombies too.
  var children: Int
  /// Bytes in use; 0 where it is not known.
  var heap: Int

  static func now() -> Census {
    Census(
      descriptors: namesInFolder("/proc/self/fd").count,
      threads: namesInFolder("/proc/self/task").count,
      children: ((try? ProcessEntry.all()) ?? []).count { $0.parent == getpid() },
      heap: heap_bytes_in_use())
  }

  /// Whatever the heap: that comes and goes by pages.
  func isNoMore(than before: Census) -> Bool {
    descriptors <= before.descriptors && threads <= before.threads && children <= before.children
  }
}
