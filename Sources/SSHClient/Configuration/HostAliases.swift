#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The names that `Host` lines of ssh_config give, for lists and completion.
///
/// `ssh -G` answers what a name means and cannot say which names there are, so here the files are
/// read for that alone. Patterns are no names; `Match` blocks are passed over.
public enum HostAliases {
  /// ssh_config(5) includes files to this depth.
  private static let deepestInclude = 16
  private static let patience = Duration.seconds(5)

  /// The aliases in the order in which ssh reads them, each once.
  ///
  /// - Parameter configurationFile: as ssh's `-F`; nil for the user's and the system's own, which
  ///   are refused in a process with `POCKET_TESTING` in its environment.
  /// - Throws: `SSHError` kind `.badConfiguration` when a file is there and cannot be read.
  public static func read(configurationFile: String?) async throws(SSHError) -> [String] {
    // ssh(1), -F: `none` is no file at all.
    if configurationFile == "none" { return [] }
    let files = configurationFile.map { [$0] } ?? [userFolder + "/config", "/etc/ssh/ssh_config"]
    let expired = SSHError(
      .configuration, .timedOut, host: files[0], "The ssh configuration could not be read")
    return try await onOwnThread(deadline: patience, expired: expired) {
      do throws(SSHError) {
        var aliases = Aliases()
        for file in files { try aliases.add(file: file, depth: 0) }
        return .success(aliases.names)
      } catch {
        return .failure(error)
      }
    }
  }

  private static let userFolder = UserFiles.home + "/.ssh"

  private struct Aliases {
    var names: [String] = []
    private var seen: Set<String> = []

    mutating func add(file path: String, depth: Int) throws(SSHError) {
      try UserFiles.check(path, host: path)
      let content: [UInt8]
      switch UserFiles.read(path) {
      case .success(let bytes): content = bytes
      case .failure(let error) where error.code == ENOENT: return
      case .failure(let error):
        throw SSHError(
          .configuration, .badConfiguration, host: path, "The file cannot be read: \(error.words)")
      }
      for line in content.split(separator: 0x0A) {
        guard let line = ConfigurationLine(line) else { continue }
        switch line.keyword {
        case "host":
          for name in line.arguments where isName(name) && seen.insert(name).inserted {
            names.append(name)
          }
        case "include" where depth < deepestInclude:
          // ssh_config(5), Include: a relative path begins at ~/.ssh, or where the system's file is.
          let folder = path.hasPrefix("/etc/ssh/") ? "/etc/ssh" : userFolder
          for pattern in line.arguments {
            for file in files(matching: pattern, in: folder) {
              try add(file: file, depth: depth + 1)
            }
          }
        default: continue
        }
      }
    }

    private func isName(_ word: String) -> Bool {
      !word.isEmpty && !word.contains { "*?!".contains($0) }
    }

    private func files(matching pattern: String, in folder: String) -> [String] {
      let isAnchored = pattern.hasPrefix("/") || pattern.hasPrefix("~")
      var found = glob_t()
      defer { globfree(&found) }
      guard glob(isAnchored ? pattern : "\(folder)/\(pattern)", GLOB_TILDE, nil, &found) == 0
      else { return [] }
      return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    }
  }
}

/// `keyword arguments` or `keyword = arguments`, ssh_config(5); arguments may stand in double quotes.
struct ConfigurationLine {
  /// In lower case.
  let keyword: String
  let arguments: [String]

  /// nil for an empty line and a comment.
  init?(_ line: ArraySlice<UInt8>) {
    var words: [String] = []
    var word: [UInt8]?
    var isQuoted = false
    var hasSign = false
    /// One equals sign may part the keyword from its arguments.
    var mayBeSign: Bool {
      !hasSign && (words.isEmpty ? word != nil : words.count == 1 && word == nil)
    }
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    for byte in line {
      if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
        word = word ?? []
      } else if !isQuoted, isSpace(byte) || (byte == UInt8(ascii: "=") && mayBeSign) {
        if let complete = word { words.append(String(decoding: complete, as: UTF8.self)) }
        word = nil
        if byte == UInt8(ascii: "=") { hasSign = true }
      } else if !isQuoted, byte == UInt8(ascii: "#"), word == nil {
        break
      } else {
        word = (word ?? []) + [byte]
      }
    }
    if let word { words.append(String(decoding: word, as: UTF8.self)) }
    guard let first = words.first else { return nil }
    (keyword, arguments) = (first.lowercased(), Array(words.dropFirst()))
  }
}
