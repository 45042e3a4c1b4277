import JobModel
import JobStore
import PocketKit
import TestSupport
import Testing

/// The user's startup files run before any line of ours, and may do anything.
@Suite struct StartupFileTests {
  /// What the client sent by now would be a script for the shell that took the place of ours.
  @Test func aPayloadIsNeverSentToAShellThatAStartupFileExecs() async throws {
    try await World.with { world in
      let home = world.server.remoteHome
      // Once only, so that the launch can go on afterwards; and the shell must be ended, since by
      // itself it would wait for the end of its input.
      let replaced = "if mkdir ~/replaced 2>&-; then { sleep 2; kill -9 $$; } & exec sh"
      // Debian's bash reads ~/.bashrc under sshd. Elsewhere the login bash has our channel as 7.
      try writeFile("\(home)/.bashrc", Array("\(replaced); fi\n".utf8))
      try writeFile("\(home)/.bash_profile", Array("\(replaced) <&7; fi\n".utf8))
      let prompt = "\necho run as a script >> \(home)/payload\n"
      let client = world.client()
      let job = try await client.create(.shell("cat", prompt: prompt), on: "dev1")
      let failures = Locked<[JobError]>([])
      let state = try await client.launch(job.id) { event in
        guard case .disconnected(let error, _) = event else { return }
        failures.withLock { $0.append(error) }
      }
      #expect(!fileExists("\(home)/payload"))
      let found = failures.withLock { $0 }
      guard case .protocolBroken = found.first, found.count == 1 else {
        Issue.record("one launch was to be without an answer: \(found)")
        return
      }
      #expect(state == .running)
      #expect(try await client.followToEnd(job.id).state == .finished(.code(0)))
      expectSame(try await world.stored(job.id, .out), Array(prompt.utf8), "prompt")
    }
  }
}
