import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The server programs of this machine, and the rows that they make.
struct Programs {
  /// Debian's openssh-server.
  private let installed = ServerProgram.openSSH(folder: "")
  /// `POCKET_OPENSSH`: the folder that a newer OpenSSH was unpacked into.
  private let newer = getenv("POCKET_OPENSSH").map {
    ServerProgram.openSSH(folder: String(cString: $0))
  }
  private let dropbear = fileExists(ServerProgram.dropbear.path) ? ServerProgram.dropbear : nil
  /// `POCKET_SK_DUMMY`: OpenSSH's own stand-in for a security key.
  let securityKeyProvider = getenv("POCKET_SK_DUMMY").map { String(cString: $0) }

  var all: [ServerProgram] { [installed, newer, dropbear].compactMap { $0 } }

  var allRows: [Row] {
    all.flatMap { program in
      Case.credentials.map {
        Row(section: "Credentials on \(program.title)", program: program, test: $0)
      }
    } + peculiarRows
  }

  private var peculiarRows: [Row] {
    Case.peculiar.map { Row(section: "Peculiar hosts", program: installed, test: $0) }
  }

  /// What `make test` has the time for.
  var sample: [Row] {
    let names: Set = [
      "ed25519, encrypted with aes256-gcm, file", "ecdsa 384, plain, agent", "rsa 2048, PEM, file",
      "password", "only AES-GCM", "ForceCommand", "MaxSessions 1", "a banner of 5,000 lines",
      "closed at once",
      "MaxStartups 1, and another connection has it", "an HTTP server", "Include", "Match exec",
      "lines before the version",
    ]
    return allRows.filter { names.contains($0.test.name) && $0.program != newer }
  }
}

extension ServerProgram {
  /// What the table calls it.
  var title: String {
    switch self {
    case .openSSH(let folder): folder.isEmpty ? "the installed OpenSSH" : "OpenSSH from backports"
    case .dropbear: "dropbear"
    }
  }
}
