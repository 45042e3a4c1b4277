import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  /// Our reader of known_hosts against `ssh-keygen -l -F`, over generated files.
  ///
  /// Left out of the files, since there the two differ on purpose or beyond need: a tab behind a
  /// marker (OpenSSH passes over such a line; for us `@revoked` counts), host certificates as keys
  /// (here they are no keys), points that do not lie on their curve, and a NUL right behind the names
  /// (OpenSSH 9.2 reads on behind it). Hashed names are looked up
  /// in lower case only: `ssh` writes them so, `ssh-keygen -F` hashes what it is given.
  @Suite struct KnownHostsDifferentialTests {
    /// Line number, marker and fingerprint of every line that is about the name.
    private struct Found: Equatable, CustomStringConvertible {
      var line: Int
      var marker: String
      var fingerprint: String
      var description: String { "\(line)\(marker) \(fingerprint)" }
    }

    private struct Comparison {
      var name: String
      var file: [UInt8]
      var theirs: [Found]
      var ours: [Found]

      /// The lines that only one of the two takes for the name's, or for another key.
      var disputed: [String] {
        let lines = file.split(separator: 0x0A, omittingEmptySubsequences: false)
        return (ours.filter { !theirs.contains($0) } + theirs.filter { !ours.contains($0) })
          .map { String(decoding: lines[$0.line - 1], as: UTF8.self).debugDescription }
      }
    }

    private static func ours(_ file: [UInt8], _ name: String) -> [Found] {
      file.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
        .compactMap { KnownHostLine($1, file: "f", number: $0 + 1) }
        .filter { $0.names(name.lowercased()) }
        .compactMap { line in
          guard let key = line.key else { return nil }
          let marker =
            switch line.marker {
            case .none: ""
            case .certificateAuthority: "CA"
            case .revoked: "REVOKED"
            }
          return Found(line: line.place.number, marker: marker, fingerprint: key.fingerprint)
        }
    }

    /// What `ssh-keygen -l -F` printed: `# Host NAME found: line N MARKER`, and then
    /// `NAME TYPE SHA256:... COMMENT`.
    private static func theirs(_ output: ArraySlice<UInt8>) -> [Found] {
      var found: [Found] = []
      for line in output.split(separator: 0x0A) {
        let line = String(decoding: line, as: UTF8.self)
        let words = line.split(separator: " ")
        if line.hasPrefix("# Host "), let index = words.firstIndex(of: "line") {
          let rest = words[(index + 1)...]
          found.append(
            Found(
              line: rest.first.flatMap { Int($0) } ?? 0,
              marker: String(rest.dropFirst().first ?? ""),
              fingerprint: ""))
        } else if let print = words.first(where: { $0.hasPrefix("SHA256:") }), !found.isEmpty {
          found[found.count - 1].fingerprint = String(print)
        }
      }
      return found
    }

    /// Both answers for `count` files, asked of one shell, since a thousand processes of ours would
    /// take longer than the answers.
    private static func comparisons(
      _ count: Int, seed: UInt64, in folder: TemporaryFolder
    ) async throws -> [Comparison] {
      var generator = try await KnownHostsGenerator(seed: seed, folder)
      var cases: [Comparison] = []
      var names = ""
      for number in 0..<count {
        let (name, file) = (generator.name(), generator.file())
        try writeFile(folder["\(number)"], file)
        names += "\(number) \(name)\n"
        cases.append(Comparison(name: name, file: file, theirs: [], ours: ours(file, name)))
      }
      let script = """
        while read -r number name; do
          ssh-keygen -l -F "$name" -f "$0/$number" 2>/dev/null
          printf '\\001'
        done
        """
      let output = try await Command(
        "/bin/sh", ["-c", script, folder.path], input: .bytes(Array(names.utf8))
      ).run(deadline: .seconds(1200)).output
      let answers = output.split(separator: 1, omittingEmptySubsequences: false)
      for number in cases.indices where number < answers.count {
        cases[number].theirs = theirs(answers[number])
      }
      try #require(answers.count == count + 1)
      return cases
    }

    @Test func everyLineSaysToUsWhatItSaysToSSHKeygen() async throws {
      let seed = isFullSweep ? UInt64.random(in: 0..<1_000_000) : 20_261_130
      let folder = try TemporaryFolder("known_hosts")
      let cases = try await Self.comparisons(isFullSweep ? 20_000 : 2_000, seed: seed, in: folder)
      var wrong = 0
      for (number, one) in cases.enumerated() where one.ours != one.theirs {
        wrong += 1
        guard wrong <= 3 else { continue }
        Issue.record(
          """
          seed \(seed), file \(number), name \(one.name): ssh-keygen found \(one.theirs), we \(one.ours)
          \(one.disputed.joined(separator: "\n"))
          """)
      }
      #expect(wrong == 0, "files with a difference, seed \(seed)")
      // The comparison must have had something to compare, of every kind.
      let found = cases.flatMap(\.theirs)
      #expect(found.count > cases.count / 5)
      for marker in ["", "CA", "REVOKED"] {
        #expect(found.count(where: { $0.marker == marker }) > cases.count / 50)
      }
      #expect(Set(found.map(\.fingerprint)).count == KnownHostsGenerator.types.count)
      #expect(cases.count(where: { $0.theirs.isEmpty }) > cases.count / 10)
    }
  }
}
