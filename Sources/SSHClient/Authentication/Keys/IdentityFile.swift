#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An identity file of the configuration, with what lies beside it.
struct IdentityFile: Sendable {
  var path: String
  var key: PrivateKeyFile?
  /// From the private key file, or from the public one that ssh looks for as well.
  var publicKey: [UInt8]?
  /// From `PATH-cert.pub`.
  var certificate: NamedCertificate?
  /// Why there is no key.
  var problem: String?
}

extension IdentityFile {
  /// Reads what there is at each path; names that only ssh itself proposes need not exist.
  static func load(
    _ paths: [String], host: String
  ) async throws(SSHError) -> [IdentityFile] {
    try await read(host: host) { () throws(SSHError) in
      var files: [IdentityFile] = []
      for path in paths {
        let file = try IdentityFile(path: path, host: host)
        if file.publicKey != nil || file.key != nil || !defaults.contains(path) {
          files.append(file)
        }
      }
      return files
    }
  }

  /// Runs what blocks elsewhere: a home folder may be on a network.
  static func read<Value: Sendable>(
    host: String, _ body: @escaping @Sendable () throws(SSHError) -> Value
  ) async throws(SSHError) -> Value {
    let expired = SSHError(
      .authentication, .timedOut, host: host, "The key files could not be read within 5 s")
    return try await onOwnThread(deadline: .seconds(5), expired: expired) {
      do throws(SSHError) { return .success(try body()) } catch { return .failure(error) }
    }
  }

  /// ssh_config(5), IdentityFile; `ssh -G` gives them where none is set.
  private static let defaults = Set(
    ["rsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk", "xmss", "dsa"].map {
      UserFiles.home + "/.ssh/id_" + $0
    })

  private init(path: String, host: String) throws(SSHError) {
    try UserFiles.check(path, host: host)
    self.path = path
    let beside = try PublicKeyFile.read(path + ".pub", host: host)
    switch UserFiles.read(path) {
    case .failure(let error):
      publicKey = beside?.blob
      // The agent may have the private half.
      if publicKey == nil { problem = "\(path) cannot be read: \(error.words)" }
    case .success(let content):
      // The public half alone may be named, to say which of the agent's keys is meant.
      if let file = PublicKeyFile(content: content) {
        publicKey = file.blob
      } else {
        let file = PrivateKeyFile(path: path, content: content)
        publicKey = file.publicKey ?? beside?.blob
        if case .unusable = file.form {
          problem = "\(path) is no private key that can be read"
        } else {
          key = file
        }
      }
    }
    certificate = try NamedCertificate.read(path + "-cert.pub", host: host)
  }
}

/// A certificate and where it comes from.
struct NamedCertificate: Sendable {
  var path: String
  var certificate: Certificate

  /// nil when there is no such file, or no certificate of a user's key in it.
  static func read(_ path: String, host: String) throws(SSHError) -> NamedCertificate? {
    guard let file = try PublicKeyFile.read(path, host: host),
      let certificate = Certificate(blob: file.blob)
    else { return nil }
    return NamedCertificate(path: path, certificate: certificate)
  }
}
