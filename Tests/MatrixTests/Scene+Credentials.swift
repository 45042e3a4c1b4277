import TestSupport

/// How a row logs in.
extension Scene {
  /// What a way to log in adds to both sides' configuration.
  struct Entry {
    var client: [String] = []
    var server: [String] = []
    /// Paths of public keys.
    var authorizedKeys: [String] = []
    var otherHosts: [String] = []
  }

  mutating func credentials(
    _ login: Login, _ user: String, _ world: World
  ) async throws -> Entry {
    var entry = Entry()
    // Without these lines `ssh` would look for the account's own keys and agent.
    let noKey = "IdentityFile \(folder["no_key"])"
    switch login {
    case .key(let kind, let format, let holder):
      let key = try await world.keyring.key(kind, format)
      entry.authorizedKeys = ["\(key).pub"]
      entry.client = try await hold(key, holder)
    case .securityKey(let kind, let holder):
      let key = try await world.keyring.key(kind)
      entry.authorizedKeys = ["\(key).pub"]
      let provider = world.keyring.securityKeyProvider ?? "none"
      entry.client = ["SecurityKeyProvider \(provider)"]
      entry.client += try await hold(key, holder, provider: provider)
    case .certificate(let kind, let holder):
      let key = try await world.keyring.certified(kind, for: user)
      entry.server = ["TrustedUserCAKeys \(try await world.keyring.authority()).pub"]
      entry.client = try await hold(key, holder)
    case .password:
      entry.server = ["PasswordAuthentication yes", "PubkeyAuthentication no"]
      entry.client = [noKey, "IdentityAgent none", "PreferredAuthentications password"]
    case .keyboardInteractive:
      entry.server = ["KbdInteractiveAuthentication yes", "PubkeyAuthentication no"]
      entry.client = [noKey, "IdentityAgent none", "PreferredAuthentications keyboard-interactive"]
    case .keyThenPassword:
      let key = try await world.keyring.key(.ed25519)
      entry.authorizedKeys = ["\(key).pub"]
      entry.server = ["PasswordAuthentication yes", "AuthenticationMethods publickey,password"]
      entry.client = try await hold(key, .file)
    }
    return entry
  }

  /// Puts a key where the client is to find it.
  private mutating func hold(
    _ key: String, _ holder: Login.Holder, provider: String? = nil
  ) async throws -> [String] {
    switch holder {
    case .file: return ["IdentityFile \(key)", "IdentitiesOnly yes", "IdentityAgent none"]
    case .agent:
      let socket = folder["agent"]
      let options = provider.map { ["-P", $0] } ?? []
      let running = try Command("ssh-agent", ["-D", "-a", socket] + options).start()
      agent = running
      // It names its socket when it listens there; the file comes a moment earlier.
      try await running.waitForOutput("the agent listening") { !$0.isEmpty }
      let askpass = try AskPass(passphrase: passphrase, password: password, in: folder)
      try await Command(
        "ssh-add", ["-q"] + (provider.map { ["-S", $0] } ?? []) + [key],
        environment: askpass.environment.merging(["SSH_AUTH_SOCK": socket]) { $1 }
      ).succeed()
      return ["IdentityFile \(folder["no_key"])", "IdentitiesOnly no", "IdentityAgent \(socket)"]
    }
  }

  /// Lets keys in. Rows run at the same time and share the account: its file only grows.
  func authorize(_ keys: [String], _ world: World) async throws {
    let path = authorizedKeysFile(world)
    if !fileExists(path) {
      if let account = world.account {
        try await account.write(".ssh/authorized_keys", "")
      } else {
        try writeFile(path, [])
      }
    }
    for key in keys {
      let line = try readText(key)
      if try !readText(path).contains(line) { try appendToFile(path, Array(line.utf8)) }
    }
  }

  func authorizedKeysFile(_ world: World) -> String {
    world.account.map { "\($0.home)/.ssh/authorized_keys" } ?? folder["authorized_keys"]
  }

  /// What every sshd says, after a row's own lines.
  func common(_ world: World) -> [String] {
    [
      "AuthorizedKeysFile \(authorizedKeysFile(world))", "StrictModes no", "PidFile none",
      // Without PAM sshd does not ask about an account that PAM alone knows to be good.
      "UsePAM \(world.account == nil ? "no" : "yes")", "UseDNS no", "PermitRootLogin yes",
      "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PrintMotd no",
      "LogLevel VERBOSE",
    ]
  }
}
