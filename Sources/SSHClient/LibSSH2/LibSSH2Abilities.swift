import CSSH2

/// What the libssh2 that runs here can do to log in, which no call of it tells. It is the library at
/// run time that counts: both have the same soname.
struct LibSSH2Abilities: Sendable {
  enum Version: Sendable { case v1_10, v1_11, later }

  let version: Version

  /// The library that was loaded, not the one that this was built with.
  static let libraryVersion = libssh2_version(0).map { String(cString: $0) } ?? "?"
  static let libraryName = "libssh2 " + libraryVersion

  /// Those of the library of this process.
  static let here = LibSSH2Abilities(
    version: libssh2_version(0x010b02) != nil
      ? .later : libssh2_version(0x010b00) != nil ? .v1_11 : .v1_10)

  /// 1.10 puts the certificate's own type into the signature, where a server wants the key's, except
  /// for ECDSA.
  var canUseEveryCertificate: Bool { version != .v1_10 }

  /// 1.11 chooses RSA's hash by the server's `server-sig-algs`, and writes behind its memory when a
  /// name is repeated there, as asyncssh does.
  var isRSASafeOnlyWithOpenSSH: Bool { version == .v1_11 }

  /// LIBSSH2_USERAUTH_KBDINT_PROMPT: 1.11 made its length a `size_t`, which moved what follows.
  /// The headers of one version must not be believed about the other.
  var promptLayout: (stride: Int, echoOffset: Int) {
    let (pointer, word) = (MemoryLayout<UnsafeRawPointer>.size, MemoryLayout<Int>.size)
    return version == .v1_10
      ? (pointer + 8, pointer + MemoryLayout<UInt32>.size) : (pointer + 2 * word, pointer + word)
  }
}
