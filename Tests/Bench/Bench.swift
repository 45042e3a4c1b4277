import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Times Pocket against the `ssh` program, through the same sshd and the same delaying proxy, turn
/// by turn, so that both meet the same weather. It prints and judges nothing.
///
///   bench                                  the table
///   bench probe CONFIGURATION HOST COMMAND     one connection and one command, as `ssh` would
///
/// The built `pocket` is `$POCKET_BINARY`.
@main struct Bench {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 5, arguments[1] == "probe" {
      try await probe(configuration: arguments[2], host: arguments[3], command: arguments[4])
    }
    try await withLoopbackServer { server in
      let proxy = try FaultProxy(server: server.port)
      defer { proxy.stop() }
      try server.addHost("far", port: proxy.port)
      let clients = try Clients(server: server, host: "far")
      try await firstByte(clients, proxy)
      try await throughput(clients, proxy)
    }
  }

  /// From a program's start to the first byte of a remote command's output.
  private static func firstByte(_ clients: Clients, _ proxy: FaultProxy) async throws {
    print(
      "Start to first byte, ms, median of \(turns) turns; in parentheses the median ratio to ssh")
    for roundTrip in [0, 50, 100] {
      proxy.delay(each: .milliseconds(roundTrip) / 2)
      var times: [[Duration]] = []
      for _ in 0..<turns {
        times.append([
          try await timeToOutput(clients.ssh("echo hello")),
          try await timeToOutput(clients.probe("echo hello")),
          try await timeToOutput(clients.pocket("run", "--", "echo", "hello")),
        ])
      }
      report("round trip \(roundTrip) ms", times) { "\(Int($0 * 1000))" }
    }
  }

  /// A hundred megabytes that are there already.
  private static func throughput(_ clients: Clients, _ proxy: FaultProxy) async throws {
    print(
      "100 MB to /dev/null, s, median of \(turns) turns; in parentheses the median ratio to ssh")
    proxy.delay(each: .zero)
    let size = 100_000_000
    let line = "{\"type\":\"assistant\",\"text\":\"a line of the length that lines have\"}"
    let job = try await clients.pocket(
      "run", "-d", "--", "sh", "-c", "yes '\(line)' | head -c \(size)"
    ).succeed()
    let file = "\(clients.server.remoteHome)/.pocket/jobs/\(job)/out.jsonl"
    try await waitUntil("the job's output", deadline: .seconds(120)) {
      try fileExists(file) && fileSize(file) == size
    }
    for roundTrip in [0, 50] {
      proxy.delay(each: .milliseconds(roundTrip) / 2)
      var times: [[Duration]] = []
      for _ in 0..<turns {
        // Nothing is fetched yet in a store of its own: the job is adopted by copying the store of
        // before.
        let fresh = try clients.withFreshStore()
        times.append([
          try await timeToEnd(clients.ssh("cat \(file)")),
          try await timeToEnd(clients.probe("cat \(file)")),
          try await timeToEnd(fresh.pocket("resume", job)),
        ])
      }
      report("round trip \(roundTrip) ms", times) { seconds in
        let hundredths = Int(seconds * 100)
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
      }
    }
  }

  private static let turns = 9

  private static func report(
    _ title: String, _ times: [[Duration]], _ text: (Double) -> String
  ) {
    let names = ["ssh", "SSHClient", "pocket"]
    let columns = names.indices.map { column in
      let own = median(times.map { $0[column].seconds })
      let ratio = median(times.map { $0[column].seconds / $0[0].seconds })
      let hundredths = Int((ratio * 100).rounded())
      let words = "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
      return "\(names[column]) \(text(own)) (\(words))"
    }
    print("  \(title): " + columns.joined(separator: ", "))
    // Whoever reads a pipe is to see each line when it is there.
    fflush(nil)
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
