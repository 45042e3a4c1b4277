/// Runs `operation`, and gives nil when it takes longer than `limit`. The operation is cancelled
/// then, and must end soon after: the call returns only when it has.
func within<Value: Sendable>(
  _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await operation() }
    group.addTask {
      // Ends early only by cancellation, when the result is not looked at.
      try? await Task.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}
