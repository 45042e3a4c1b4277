#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// close(2), under a name that no method `close` hides.
@Sendable func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
