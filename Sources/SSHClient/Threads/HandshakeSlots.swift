/// At most four handshakes at once in this process: sshd drops connections at random when too many
/// have not logged in yet (sshd_config(5), MaxStartups), and penalises their source.
actor HandshakeSlots {
  static let shared = HandshakeSlots(count: 4)

  private var free: Int
  private var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
  private var nextID = 0

  init(count: Int) { free = count }

  /// Waits for a slot; false when the task was cancelled meanwhile.
  func take() async -> Bool {
    if Task.isCancelled { return false }
    if free > 0 {
      free -= 1
      return true
    }
    nextID += 1
    let id = nextID
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiters.append((id, $0)) }
    } onCancel: {
      Task { await self.forget(id) }
    }
  }

  func giveBack() {
    if waiters.isEmpty {
      free += 1
    } else {
      waiters.removeFirst().continuation.resume(returning: true)
    }
  }

  private func forget(_ id: Int) {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
    waiters.remove(at: index).continuation.resume(returning: false)
  }
}
