#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What parts of the rig are made of that show one program another machine than there is
/// (namespaces(7)).
package enum Namespaces {
  /// Only root on Linux may make them.
  package static let arePossible: Bool = {
    #if os(Linux)
      geteuid() == 0 && system("unshare --mount --pid --fork --net true >/dev/null 2>&1") == 0
    #else
      false
    #endif
  }()
}
