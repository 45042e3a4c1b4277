import JobStore

/// A claimed wish whose claim is renewed for as long as this exists.
final class HeldIntent: Sendable {
  let claim: IntentClaim
  private let renewing: Task<Void, Never>

  init(_ claim: IntentClaim, in store: JobStore) {
    self.claim = claim
    renewing = Task {
      // A few chances within one lease, should the store be busy.
      while !Task.isCancelled {
        do {
          try await Task.sleep(for: .seconds(IntentClaim.lease / 4))
          try await store.renew(claim)
        } catch {
          // Cancelled, or the store could not be written: then the claim runs out in its time.
        }
      }
    }
  }

  deinit { renewing.cancel() }
}
