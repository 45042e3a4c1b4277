/// A condition that did not come true in time.
package struct DidNotHappen: Error, CustomStringConvertible {
  /// What was waited for.
  package let what: String
  /// How long it was really waited for.
  package let after: Duration

  package var description: String { "\(what): did not happen within \(after)" }
}

/// Asks `condition` again and again until it is true.
///
/// - Parameters:
///   - what: what is waited for, for the error.
///   - deadline: how long to wait. Generous costs nothing: only a failing test waits that long.
/// - Throws: `DidNotHappen`, and what `condition` throws.
package func waitUntil(
  _ what: @autoclosure () -> String, deadline: Duration = .seconds(20),
  every pause: Duration = .milliseconds(10), isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool
) async throws {
  let clock = ContinuousClock()
  let start = clock.now
  while try await !condition() {
    let waited = start.duration(to: clock.now)
    if waited > deadline { throw DidNotHappen(what: what(), after: waited) }
    try await Task.sleep(for: pause)
  }
}
