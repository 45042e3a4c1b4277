import SSHClient

/// The options that several commands have.
enum Keys {
  static let json = OptionKey<Bool>.flag("json", nil, "one JSON object a line, errors too")
  static let rawJSON = OptionKey<Bool>.flag(
    "json", nil, "raw event lines, then a JSON object on stderr")
  static let host = OptionKey<Word?>.value(
    "host", "H", "HOST", completion: .host, "where: a name from your ssh_config, or user@name:port")
  static let sshConfig = OptionKey<Word?>.value(
    "ssh-config", "F", "FILE", completion: .file, "this ssh_config in place of your own")
  static let transport = OptionKey<Word?>.value(
    "transport", nil, "ENGINE", completion: .choice(EngineChoice.allCases.map(\.rawValue)),
    "auto, libssh2, or openssh: your own ssh carries it")
  static let env = OptionKey<[Word]>.list(
    "env", nil, "NAME", "send this variable's value here, as a secret")
  static let envFile = OptionKey<[Word]>.list(
    "env-file", nil, "FILE", completion: .file, "send this file's NAME=VALUE lines, as secrets"
  )
  static let refresh = OptionKey<Bool>.flag("refresh", nil, "ask the hosts first")
}
