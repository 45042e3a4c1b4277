import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Variables for every remote command (ssh_config(5), SendEnv and SetEnv). A server takes those that
/// its AcceptEnv names.
struct RemoteEnvironment: Sendable, Equatable {
  struct Variable: Sendable, Equatable {
    var name: [UInt8]
    var value: [UInt8]

    /// nil for what has no name.
    init?(_ text: some Collection<UInt8>) {
      let parts = text.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { return nil }
      (name, value) = ([UInt8](parts[0]), [UInt8](parts[1]))
    }
  }

  var variables: [Variable] = []

  /// - Parameter own: this process's environment.
  init(_ values: ConfigurationValues, own: [[UInt8]] = Self.own) {
    let patterns = values.all("sendenv").map { [UInt8]($0.utf8) }
    let set = values.all("setenv").compactMap { Variable($0.utf8) }
    let sent = own.compactMap(Variable.init).filter { variable in
      // What is set by name counts, so the other need not travel.
      !set.contains { $0.name == variable.name }
        && patterns.contains {
          Pattern.matches($0[...], variable.name[...], ignoringCase: false)
        }
    }
    variables = sent + set
  }

  private static var own: [[UInt8]] {
    guard let start = pocket_environment() else { return [] }
    return sequence(first: start) { $0 + 1 }.prefix { $0.pointee != nil }
      .compactMap { entry in
        entry.pointee.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
      }
  }
}
