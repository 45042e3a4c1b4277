/// The libssh2 and the `ssh` that this process uses.
public enum SSHLibrary {
  /// Its version, as `1.10.0`.
  public static var version: String { LibSSH2Abilities.libraryVersion }

  /// What is to be known of this version: faults that are worked around here, and what is left to
  /// the `ssh` program.
  public static var knownFaults: [String] { knownFaults(of: LibSSH2Abilities.here.version) }

  /// Whether this is a version with which Pocket's tests run: 1.10.0 or 1.11.1.
  public static var isTested: Bool { ["1.10.0", "1.11.1"].contains(version) }

  /// The `ssh` program on the PATH, as it names itself; nil where there is none that can be used.
  public static func programName() async -> String? {
    do throws(SSHError) {
      return try await SSHProgram.find(host: HostName("localhost"))?.name
    } catch {
      return nil
    }
  }

  static func knownFaults(of version: LibSSH2Abilities.Version) -> [String] {
    switch version {
    case .v1_10:
      [
        "no RSA host keys, chacha20, AES-GCM or -etm MACs, Ed25519 or RSA certificates, security keys:"
          + " ssh goes on there"
      ]
    case .v1_11:
      [
        "writes behind its memory for an RSA key where a server repeats a name, so that is left to ssh",
        "no security keys: ssh goes on there",
      ]
    case .later: []
    }
  }
}
