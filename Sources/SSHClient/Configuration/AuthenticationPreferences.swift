/// What ssh_config says about how to log in, beside the keys themselves.
struct AuthenticationPreferences: Sendable, Equatable {
  /// RFC 4252's and RFC 4256's methods, and RFC 4462's, by their names on the wire.
  enum Method: String, Sendable, CaseIterable {
    case gssapi = "gssapi-with-mic"
    case hostBased = "hostbased"
    case publicKey = "publickey"
    case keyboardInteractive = "keyboard-interactive"
    case password

    /// Whether only a person can go through with it.
    var asksUser: Bool { self == .keyboardInteractive || self == .password }
  }

  /// What is switched on, in the order in which it is to be tried.
  var methods: [Method] = Method.allCases
  /// Certificates for the user's keys; expanded.
  var certificateFiles: [String] = []
  /// Names of key types and signature algorithms that may be offered; nil for any.
  var publicKeyAlgorithms: Set<String>?
  /// How often a passphrase or a password may be mistyped.
  var passwordPrompts = 3

  init() {}

  /// Reads the answer of `ssh -G`, taken apart.
  init(_ values: ConfigurationValues, _ tokens: PathTokens) throws(SSHError) {
    func isOff(_ keyword: String) -> Bool { ["no", "false"].contains(values[keyword] ?? "yes") }
    // PubkeyAuthentication may be `unbound` or `host-bound` as well.
    let switches: [Method: String] = [
      .gssapi: "gssapiauthentication", .hostBased: "hostbasedauthentication",
      .publicKey: "pubkeyauthentication", .keyboardInteractive: "kbdinteractiveauthentication",
      .password: "passwordauthentication",
    ]
    // Not printed where it is not set: then the order is ours, which is ssh_config(5)'s default.
    let names = values.list("preferredauthentications")
    let order = names.map { $0.compactMap(Method.init) } ?? Method.allCases
    methods = order.filter { method in switches[method].map { !isOff($0) } ?? true }
    for file in values.all("certificatefile") where file != "none" {
      certificateFiles.append(try tokens.expand(file))
    }
    publicKeyAlgorithms = values.list("pubkeyacceptedalgorithms").map(Set.init)
    passwordPrompts = values.number("numberofpasswordprompts") ?? 3
  }
}
